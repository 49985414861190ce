import { assertEquals } from "@std/assert";
import type { RunStore } from "../../../eval/store/store.ts";
import { storedTurn } from "../../fakes/stored_runs.ts";
import { newRun, type StoreCase } from "./store_case.ts";

const DAY = 24 * 60 * 60 * 1000;

/** How every kind of store deletes runs. */
export const deletionCases: Record<string, StoreCase> = {
  "deleting a run deletes its turns, and no other run's": async (store) => {
    const [gone, kept] = [await newRun(store), await newRun(store)];
    for (const id of [gone, kept]) await store.recordTurn(id, storedTurn([0, 0, 0]));
    assertEquals(await store.deleteRun(gone), true);
    assertEquals(await store.deleteRun(gone), false);
    assertEquals(await Array.fromAsync(store.turns(gone)), []);
    assertEquals((await Array.fromAsync(store.turns(kept))).length, 1);
  },

  "retention deletes runs that ended before a time, and never a running one": async (
    store,
    clock,
  ) => {
    const [old, running] = [await newRun(store), await newRun(store)];
    await store.setStatus(old, { status: "completed" });
    clock.now += 10 * DAY;
    const recent = await newRun(store);
    await store.setStatus(recent, { status: "completed" });
    assertEquals(await store.deleteOlderThan(clock.now - 7 * DAY), 1);
    const left = (await store.listRuns({ limit: 10 })).runs.map((run) => run.id);
    assertEquals(left, [recent, running]);
  },

  "retention spares a run that is tagged or resumed after it was listed": async (store) => {
    const [old, resumed, tagged] = [
      await newRun(store),
      await newRun(store),
      await newRun(store),
    ];
    await store.recordTurn(tagged, storedTurn([0, 0, 0]));
    for (const id of [old, tagged]) await store.setStatus(id, { status: "completed" });
    await store.setStatus(resumed, { status: "interrupted" });
    const changed: RunStore = {
      ...store,
      async deleteRun(id, only) {
        await store.describeRun(tagged, { tags: ["main"] });
        await store.setStatus(resumed, { status: "running", from: ["interrupted"] });
        return await store.deleteRun(id, only);
      },
    };
    assertEquals(await changed.deleteOlderThan(Number.MAX_SAFE_INTEGER), 1);
    assertEquals(await store.getRun(old), undefined);
    assertEquals((await store.getRun(resumed))?.status, "running");
    assertEquals([await store.findTag("main"), (await store.tally(tagged)).done], [tagged, 1]);
    await store.deleteRun(tagged);
  },

  "a tag names one run, keeps it from being deleted for its age, and goes with it": async (
    store,
  ) => {
    const [first, second] = [await newRun(store), await newRun(store)];
    for (const id of [first, second]) await store.setStatus(id, { status: "completed" });
    assertEquals(await store.findTag("main"), undefined);
    await store.describeRun(first, { tags: ["main"] });
    await store.describeRun(second, { tags: ["main"] });
    assertEquals(await store.findTag("main"), second);
    assertEquals(await store.deleteOlderThan(Number.MAX_SAFE_INTEGER), 1);
    assertEquals(await store.getRun(first), undefined);
    assertEquals(await store.countOlderThan(Number.MAX_SAFE_INTEGER), 0);
    await store.deleteRun(second);
    assertEquals(await store.findTag("main"), undefined);
  },

  "a run is renamed and given tags, by which it is found": async (store) => {
    const [first, second] = [await newRun(store), await newRun(store)];
    await store.describeRun(first, { testName: "better", tags: ["main", "Nightly"] });
    await store.describeRun(second, { tags: ["main"] });
    assertEquals(
      await store.tagsOf([first, second]),
      new Map([[first, ["Nightly"]], [second, ["main"]]]),
    );
    assertEquals((await store.getRecord(first))!.testName, "better");
    const found = await store.listRuns({ text: "nightLY", limit: 10 });
    assertEquals(found.runs.map(({ id }) => id), [first]);
    await store.describeRun(first, { tags: [] });
    assertEquals((await store.tagsOf([first])).size, 0);
    assertEquals((await store.getRecord(first))!.testName, "better");
  },
};

import { assertEquals, assertRejects } from "@std/assert";
import { createActiveRun } from "../../../eval/run/manager/active_run.ts";
import { createFollowingReader } from "../../../eval/run/events/following_reader.ts";
import { IncompleteRead } from "../../../eval/store/turns/whole_reader.ts";
import { memoryStore } from "../../fakes/memory_store.ts";
import { evaluateRequest, storedTurn } from "../../fakes/stored_runs.ts";

const SCENARIOS = 45;

/** A run of 45 scenarios with two turns each, which are stored one by one. */
async function followedRun() {
  const store = memoryStore();
  const request = evaluateRequest({ scenarios: SCENARIOS, turns: 2 });
  const created = await store.createRun({ request, testName: "t" });
  if (created.outcome !== "created") throw new Error(created.outcome);
  const { run } = created;
  const active = createActiveRun(run, { tally: await store.tally(run.id), now: () => 0 });
  const pages = createFollowingReader(store, active).turnPages(run.id)[Symbol.asyncIterator]();
  const read: number[] = [];
  const reading = (async () => {
    for (let next = await pages.next(); !next.done; next = await pages.next()) {
      read.push(...next.value.map(({ scenario }) => scenario));
    }
  })();
  reading.catch(() => {}); // a test looks at it
  async function storeTurn(scenario: number, turn: number): Promise<void> {
    const stored = storedTurn([scenario, 0, turn]);
    await store.recordTurn(run.id, stored);
    active.note(stored.result, stored);
    await new Promise((resolve) => setTimeout(resolve, 0)); // whoever waits reads now
  }
  return { active, read, reading, storeTurn };
}

Deno.test("a run is read while it is stored, in its order, and no scenario before it is whole", async () => {
  const { active, read, reading, storeTurn } = await followedRun();
  for (let scenario = SCENARIOS - 1; scenario > 0; scenario--) {
    for (const turn of [1, 0]) await storeTurn(scenario, turn);
  }
  await storeTurn(0, 1);
  assertEquals(read, [], "the first scenario lacks a turn");
  await storeTurn(0, 0);
  await reading;
  assertEquals(read, Array.from({ length: 2 * SCENARIOS }, (_, i) => Math.floor(i / 2)));
  active.end({ status: "completed" });
});

Deno.test("what is stored as a whole is read before the end of the run", async () => {
  const { active, read, reading, storeTurn } = await followedRun();
  for (let scenario = 0; scenario < 25; scenario++) {
    for (const turn of [0, 1]) await storeTurn(scenario, turn);
  }
  assertEquals(new Set(read).size, 20, "as many as are read at once");
  active.end({ status: "cancelled" });
  await assertRejects(() => reading, IncompleteRead);
});

Deno.test("a run that ends without some of its turns is not read as a whole one", async () => {
  const { active, read, reading, storeTurn } = await followedRun();
  for (const turn of [0, 1]) await storeTurn(0, turn);
  await storeTurn(1, 0);
  active.end({ status: "cancelled" });
  await assertRejects(() => reading, IncompleteRead, "should have 90 turns, but 2 were read");
  assertEquals(read, [0, 0]);
});

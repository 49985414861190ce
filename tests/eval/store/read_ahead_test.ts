import { assert, assertEquals, assertRejects } from "@std/assert";
import { validate } from "@std/uuid/common";
import { openStore } from "../../../eval/store/open_store.ts";
import { createRunIds } from "../../../eval/store/run_record.ts";
import { readAhead } from "../../../eval/store/runs/run_reader.ts";
import type { RunStore } from "../../../eval/store/store.ts";
import { createWholeReader, IncompleteRead } from "../../../eval/store/whole_reader.ts";
import { AppError } from "../../../shared/service/errors.ts";
import { memoryStore } from "../../fakes/memory_store.ts";
import { evaluateRequest, storedTurn } from "../../fakes/stored_runs.ts";
import { withFolder } from "../../fakes/with_folder.ts";

/** The numbers from 1, and a record of every request. */
function watchedNumbers({ until = 3, failAt = Infinity } = {}) {
  const notes: string[] = [];
  async function* numbers() {
    try {
      for (let n = 1; n <= until; n++) {
        notes.push(`ask ${n}`);
        await Promise.resolve();
        if (n === failAt) throw new Error("the page is torn");
        yield n;
      }
    } finally {
      notes.push("end");
    }
  }
  return { notes, ahead: readAhead(numbers()) };
}

Deno.test("the next item is requested while one is being used, and no more than one", async () => {
  const { notes, ahead } = watchedNumbers();
  for await (const n of ahead) {
    await new Promise((resolve) => setTimeout(resolve, 0));
    notes.push(`use ${n}`);
  }
  assertEquals(notes, ["ask 1", "ask 2", "use 1", "ask 3", "use 2", "end", "use 3"]);
});

Deno.test("a consumer that stops early ends the reading, also if the buffered item is an error", async () => {
  const { notes, ahead } = watchedNumbers({ failAt: 2 });
  for await (const n of ahead) {
    await new Promise((resolve) => setTimeout(resolve, 0)); // a rejection would fail here
    assertEquals(n, 1);
    break;
  }
  assertEquals(notes, ["ask 1", "ask 2", "end"]);
});

Deno.test("an error is thrown after the items before it", async () => {
  const { ahead } = watchedNumbers({ failAt: 2 });
  assertEquals(await ahead.next(), { done: false, value: 1 });
  await assertRejects(() => ahead.next(), Error, "the page is torn");
});

async function storedRun(turns: number) {
  const store = memoryStore();
  const { id } = await store.createRun({ request: evaluateRequest({ turns: 3 }), testName: "t" });
  for (let turn = 0; turn < turns; turn++) await store.recordTurn(id, storedTurn([0, 0, turn]));
  return { store, id };
}

Deno.test("a completed run that lacks a turn is not read as a complete one", async () => {
  const { store, id } = await storedRun(2);
  await store.setStatus(id, { status: "completed" });
  const reader = createWholeReader(store, (await store.getRun(id))!);
  const words = `run ${id} should have 3 turns, but 2 were read`;
  await assertRejects(() => reader.tally(id), IncompleteRead, words);
  await assertRejects(() => Array.fromAsync(reader.turns(id)), IncompleteRead, words);
  await assertRejects(() => Array.fromAsync(reader.turnPages(id)), IncompleteRead, words);
});

Deno.test("a run that ended early is complete with the turns that it had then", async () => {
  const { store, id } = await storedRun(2);
  await store.setStatus(id, { status: "cancelled", tally: await store.tally(id) });
  const run = (await store.getRun(id))!;
  assertEquals((await Array.fromAsync(createWholeReader(store, run).turns(id))).length, 2);
  await store.recordTurn(id, storedTurn([0, 0, 2])); // it went on in the meantime
  await assertRejects(
    () => Array.fromAsync(createWholeReader(store, run).turns(id)),
    IncompleteRead,
  );
});

Deno.test("turns that are deleted while they are read are noticed at the end", async () => {
  const { store, id } = await storedRun(3);
  await store.setStatus(id, { status: "completed" });
  const torn: RunStore = {
    ...store,
    async *turns(id) {
      yield* (await Array.fromAsync(store.turns(id))).slice(0, 1);
    },
    async *turnPages(id) {
      for await (const page of store.turnPages(id)) yield page.slice(0, 1);
    },
  };
  const reader = createWholeReader(torn, (await store.getRun(id))!);
  await assertRejects(() => Array.fromAsync(reader.turns(id)), IncompleteRead);
  await assertRejects(() => Array.fromAsync(reader.turnPages(id)), IncompleteRead);
});

Deno.test("a run that another process deletes while it is read is not found, and no fault", async () => {
  const { store, id } = await storedRun(3);
  await store.setStatus(id, { status: "completed" });
  const run = (await store.getRun(id))!;
  const readers = [1, 2, 3].map(() => createWholeReader(store, run));
  await readers[0]!.tally(id); // the others have read nothing yet
  await store.deleteRun(id);
  for (const reader of readers) {
    const error = await assertRejects(() => Array.fromAsync(reader.turns(id)), AppError);
    assertEquals([error.status, error.code], [404, "not_found"]);
  }
});

Deno.test("ids sort in the order of their creation, whatever the clock does", () => {
  let moment = 1_700_000_000_000;
  const newId = createRunIds(() => moment);
  const ids: string[] = [];
  for (let n = 0; n < 10_000; n++) {
    if (n === 6_000) moment += 5;
    if (n === 8_000) moment -= 60_000;
    ids.push(newId());
  }
  assertEquals([...ids].sort(), ids);
  assertEquals(new Set(ids).size, ids.length);
  assert(ids.every(validate));
  assert(ids.every((id) => id[14] === "7"));
});

Deno.test("a retry takes the place of its run, also if the clock was set back before a restart", () =>
  withFolder(async (folder) => {
    const path = `${folder}/eval.db`;
    const runs = ["a", "b"].map((name) => ({ request: evaluateRequest(), testName: "t", name }));
    const before = await openStore({ path });
    const group = await before.createGroup({ runs });
    if (group.outcome !== "created") throw new Error(group.outcome);
    const [a, b] = group.runs;
    await before.close();

    await using after = await openStore({ path, now: () => Date.now() - 60_000 });
    const { request, testName, id: parentId } = a!;
    const retry = await after.createRun({ request, testName, parentId });
    const members = await after.groupRuns(group.id);
    assertEquals(members.map(({ id }) => id), [retry.id, b!.id]);
  }));

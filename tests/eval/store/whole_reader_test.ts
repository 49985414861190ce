import { assertEquals, assertRejects } from "@std/assert";
import { AppError } from "../../../shared/errors.ts";
import type { RunStore } from "../../../eval/store/store.ts";
import { createWholeReader, IncompleteRead } from "../../../eval/store/turns/whole_reader.ts";
import { memoryStore } from "../../fakes/memory_store.ts";
import { evaluateRequest, storedTurn } from "../../fakes/stored_runs.ts";

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

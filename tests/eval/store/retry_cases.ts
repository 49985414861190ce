import { assertEquals } from "@std/assert";
import { evaluateRequest, failure, storedTurn } from "../../fakes/stored_runs.ts";
import { newRun, positions, type StoreCase } from "./store_case.ts";

/** What every kind of store does with retried runs. */
export const retryCases: Record<string, StoreCase> = {
  "a retry starts with its parent's turns up to the first failed one of each attempt": async (
    store,
  ) => {
    const parentId = await newRun(store, { turns: 4 });
    const error = failure;
    const kept = ([[0, 0, 0], [0, 1, 0], [1, 0, 0], [1, 0, 1]] as const)
      .map((position) => storedTurn([...position]));
    for (const turn of kept) await store.recordTurn(parentId, turn);
    for (const turn of [[0, 0, 1], [0, 2, 0], [0, 0, 3]] as const) {
      await store.recordTurn(parentId, storedTurn([...turn], { error }));
    }
    for (const turn of [[0, 0, 2], [0, 2, 1]] as const) {
      await store.recordTurn(parentId, storedTurn([...turn]));
    }
    const { id } = await store.createRun({ request: evaluateRequest(), testName: "t", parentId });
    assertEquals((await store.getRun(id))?.parentId, parentId);
    const copied = (from: string) =>
      kept.map((turn) => ({ ...turn, result: { ...turn.result, copied_from_run: from } }));
    assertEquals(await Array.fromAsync(store.turns(id)), copied(parentId));
    const again = await store.createRun({
      request: evaluateRequest(),
      testName: "t",
      parentId: id,
    });
    assertEquals(await Array.fromAsync(store.turns(again.id)), copied(parentId));
    await store.recordTurn(id, storedTurn([0, 0, 1]));
    const events = await store.turnsAfter(id, { seq: 4, limit: 9 });
    assertEquals(events.map(({ seq, turn }) => [seq, turn]), [[5, 1]]);
  },

  "a retry does not start with turns whose overall is missing": async (store) => {
    const parentId = await newRun(store, { turns: 3 });
    const missing = { scores: { overall: null }, missing_scores: { overall: "judge" } };
    await store.recordTurn(parentId, storedTurn([0, 0, 0]));
    await store.recordTurn(parentId, storedTurn([0, 0, 1], missing));
    await store.recordTurn(parentId, storedTurn([0, 0, 2]));
    const { id } = await store.createRun({ request: evaluateRequest(), testName: "t", parentId });
    assertEquals(positions(await Array.fromAsync(store.turns(id))), [[0, 0, 0], [0, 0, 2]]);
  },
};

import type { RunStore } from "../../../eval/store/store.ts";
import type { StoredTurn } from "../../../eval/store/turn_record.ts";
import { evaluateRequest } from "../../fakes/stored_runs.ts";

/** One test of a store, whichever kind it is. The test sets the clock. */
export type StoreCase = (store: RunStore, clock: { now: number }) => Promise<void>;

/** Stores a run and returns its id. */
export async function newRun(
  store: RunStore,
  fields: Parameters<typeof evaluateRequest>[0] = {},
): Promise<string> {
  const request = evaluateRequest(fields);
  return (await store.createRun({ request, testName: request.test_name ?? "a test" })).id;
}

export const positions = (turns: StoredTurn[]) =>
  turns.map(({ scenario, attempt, turn }) => [scenario, attempt, turn]);

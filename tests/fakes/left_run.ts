import { memoryStore } from "./memory_store.ts";
import { evaluateRequest, storedTurn } from "./stored_runs.ts";

/** A store as a killed process left it: one of three turns done. */
export async function leftByAnother(fields: Parameters<typeof evaluateRequest>[0] = {}) {
  const store = memoryStore();
  const request = evaluateRequest({ turns: 3, ...fields });
  const { id } = await store.createRun({ request, testName: "t" });
  await store.recordTurn(id, storedTurn([0, 0, 0]));
  return { store, id };
}

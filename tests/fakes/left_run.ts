import { memoryStore } from "./memory_store.ts";
import { evaluateRequest, storedTurn } from "./stored_runs.ts";

/** A store as a killed process leaves it: one of three turns is stored. */
export async function leftByAnother(
  { reference, ...fields }: Parameters<typeof evaluateRequest>[0] & { reference?: string } = {},
) {
  const store = memoryStore();
  const request = evaluateRequest({ turns: 3, ...fields });
  for (const turn of request.test_batch[0]!.interactions) {
    if (reference !== undefined) turn.reference_reply = reference;
  }
  const { id } = await store.createRun({ request, testName: "t" });
  await store.recordTurn(id, storedTurn([0, 0, 0]));
  return { store, id };
}

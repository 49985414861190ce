import { createHash } from "node:crypto";
import { jsonPieces } from "../../shared/http/json_stream.ts";
import type { Scenario } from "../../shared/schemas/evaluate.ts";
import { createYielder } from "../../shared/yielder.ts";

/**
 * What a test is called that has no name: after its scenario, or if there are several after their
 * content, because different batches may begin with the same scenario.
 */
export async function nameBatch(batch: Scenario[]): Promise<string> {
  const [first, ...others] = batch;
  return others.length === 0 ? first!.id : `batch-${(await datasetOf(batch)).slice(0, 8)}`;
}

/** A digest of a batch's content: runs with the same one have run the same conversations. */
export async function datasetOf(batch: Scenario[]): Promise<string> {
  const hash = createHash("sha256");
  const yieldIfDue = createYielder();
  for (const piece of jsonPieces(batch, 1)) {
    hash.update(piece);
    await yieldIfDue();
  }
  return hash.digest("hex").slice(0, 32);
}

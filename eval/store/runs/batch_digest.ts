import { digestOf } from "../../../shared/digest.ts";
import { gatherText, jsonPieces } from "../../../shared/http/body/json_response.ts";
import type { EvaluateRequest } from "../../schemas/evaluate_request.ts";
import type { Scenario } from "../../schemas/scenario.ts";

/** Down to the turns of a batch, each of which is written as one piece. */
const DEPTH = 3;

/**
 * What a test is called that has no name: after its scenario, or if there are several after their
 * content, because different batches may begin with the same scenario.
 */
export async function nameBatch(batch: Scenario[]): Promise<string> {
  const [first, ...others] = batch;
  return others.length === 0 ? first!.id : `batch-${(await digestBatch(batch)).slice(0, 8)}`;
}

/** A digest of a batch's content: runs with the same one have run the same conversations. */
export async function digestBatch(batch: Scenario[]): Promise<string> {
  return shorten(await digestOf(gatherText(jsonPieces(batch, DEPTH))));
}

/** The same digest of scenarios that arrive one after another, each as JSON text. */
export async function createBatchDigest(): Promise<
  { add(scenario: string): void; end(): string }
> {
  const { createHash } = await import("node:crypto");
  const hash = createHash("sha256");
  let separator = "[";
  return {
    add(scenario) {
      hash.update(separator).update(scenario);
      separator = ",";
    },
    end: () => shorten(hash.update(separator === "[" ? "[]" : "]").digest("hex")),
  };
}

/** The name of the dataset that a stored request names; `null` if it names none. */
export function datasetNameOf({ dataset }: Pick<EvaluateRequest, "dataset">): string | null {
  return dataset?.split("@")[0] ?? null;
}

function shorten(digest: string): string {
  return digest.slice(0, 32);
}

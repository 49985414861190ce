import { createHash } from "node:crypto";
import type { EvaluateRequest } from "../../schemas/evaluate_request.ts";
import type { Scenario } from "../../schemas/scenario.ts";

/**
 * What a test is called that has no name: after its scenario, or if there are several after their
 * content, because different batches may begin with the same scenario.
 */
export function nameBatch(batch: Scenario[]): string {
  const [first, ...others] = batch;
  return others.length === 0 ? first!.id : `batch-${digestBatch(batch).slice(0, 8)}`;
}

/** A digest of a batch's content: runs with the same one have run the same conversations. */
export function digestBatch(batch: Scenario[]): string {
  const digest = createBatchDigest();
  for (const scenario of batch) digest.add(JSON.stringify(scenario));
  return digest.end();
}

/** The same digest of scenarios that arrive one after another, each as JSON text. */
export function createBatchDigest(): { add(scenario: string): void; end(): string } {
  const hash = createHash("sha256");
  let separator = "[";
  return {
    add(scenario) {
      hash.update(separator).update(scenario);
      separator = ",";
    },
    end: () => hash.update(separator === "[" ? "[]" : "]").digest("hex").slice(0, 32),
  };
}

/** The name of the dataset that a stored request names; `null` if it names none. */
export function datasetNameOf({ dataset }: Pick<EvaluateRequest, "dataset">): string | null {
  return dataset?.split("@")[0] ?? null;
}

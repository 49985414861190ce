import { createHash } from "node:crypto";
import type { Scenario } from "../../shared/schemas/evaluate.ts";
import { createYielder } from "../../shared/yielder.ts";

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
  const digest = createBatchDigest();
  const yieldIfDue = createYielder();
  for (const scenario of batch) {
    digest.add(JSON.stringify(scenario));
    await yieldIfDue();
  }
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

import { createHash } from "node:crypto";
import type { EvaluateRequest } from "../test/evaluate_request.ts";
import type { Scenario } from "../test/scenario.ts";

/**
 * `running` is unfinished, in this process or in one that died; `interrupted` is unfinished and is
 * resumed only on request. The other three are final.
 */
export const RUN_STATUSES = [
  "running",
  "completed",
  "cancelled",
  "interrupted",
  "failed",
] as const;
export type RunStatus = (typeof RUN_STATUSES)[number];

/** A run without its request. Times are milliseconds since 1970. */
export interface RunRecord {
  id: string;
  /** The run that this one retries. */
  parentId: string | null;
  status: RunStatus;
  /** Why the run did not complete, in words for people. */
  detail: string | null;
  testName: string;
  modelId: string;
  /** `null` if the replies existed before the run. */
  endpoint: string | null;
  attempts: number;
  /** The number of turns of the complete run: interactions × attempts. */
  totalTurns: number;
  createdAt: number;
  finishedAt: number | null;
  /** The progress when the status was last set; `null` while the run is running. */
  tally: Tally | null;
  batchDigest: string;
  /** Of the dataset that the request names; `null` if it has a batch instead. */
  datasetName: string | null;
  /** What the command line decided about the run; `null` if it did not check it. */
  gate: Gate | null;
  /** The group that the run belongs to, if its request named several models. */
  group: RunGroup | null;
}

/** A run's place in its group. */
export interface RunGroup {
  id: string;
  /** The place of its model among the group's, counted from 0. */
  index: number;
  /** What the group calls the model. */
  name: string;
}

/** Whether a run reached its threshold and did not regress. */
export type Gate = "passed" | "failed";

/** A run with its request, which may have megabytes. */
export interface StoredRun extends RunRecord {
  request: EvaluateRequest;
}

export interface Tally {
  done: number;
  failed: number;
  /** Turns whose `overall` could not be computed; see `missing_scores`. */
  missing: number;
  /** Turns that have an `overall`, and its mean; without those that were asked a second way. */
  scored: number;
  mean: number | null;
  /** The newest event's `seq`; 0 if there is none. */
  lastSeq: number;
}

/**
 * Creates the ids of runs: UUIDs of version 7, which sort as text in the order of their creation,
 * also within one millisecond and after the clock is set back. `now` is milliseconds since 1970;
 * `after` is the last id of earlier processes, if there is one.
 */
export function createRunIds(now: () => number, after = ""): () => string {
  let last = momentOf(after) || 0; // NaN for an id that was not made here
  let counter = parseInt(after.slice(15, 18), 16) || 0;
  return () => {
    const moment = now();
    if (moment > last) {
      last = moment;
      counter = 0;
    } else if (++counter > 0xfff) {
      last++; // borrows from the next millisecond
      counter = 0;
    }
    const random = crypto.randomUUID(); // its last two groups are already in the RFC's variant
    const time = last.toString(16).padStart(12, "0");
    const count = counter.toString(16).padStart(3, "0");
    return `${time.slice(0, 8)}-${time.slice(8)}-7${count}-${random.slice(19)}`;
  };
}

/** When an id was made, in milliseconds since 1970; later than that if the clock was set back. */
export function momentOf(id: string): number {
  return parseInt(id.replace("-", "").slice(0, 12), 16);
}

/**
 * The name of a test without one: the id of its only scenario, else after the content of all, because
 * different batches may begin with the same scenario.
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

/** Names of tags: what branches and releases are usually called. */
export const TAG = /^[\w][\w./-]{0,99}$/;

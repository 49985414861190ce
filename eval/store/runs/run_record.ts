import type { EvaluateRequest } from "../../schemas/evaluate_request.ts";

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
  endpoint: string;
  attempts: number;
  /** The number of turns of the complete run: interactions × attempts. */
  totalTurns: number;
  createdAt: number;
  finishedAt: number | null;
  /** The progress when the status was last set; `null` while the run is running. */
  tally: Tally | null;
  /** True if the endpoint had a query. It is not stored, so another process cannot resume the run. */
  queryRemoved: boolean;
  /** A digest of the batch; `null` in runs of earlier versions. */
  batchDigest: string | null;
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

/** The progress of a run. */
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
 * An endpoint without its query and fragment. Callers put secrets there, so they are neither stored
 * nor shown; only the running process knows them.
 */
export function removeQuery(endpoint: string): string {
  return endpoint.replace(/[?#][^]*$/, "");
}

import type {
  EvaluateRequest,
  InteractionResult,
  InteractionUsage,
} from "../../shared/schemas/evaluate.ts";
import type { NOT_UTF8 } from "../../shared/http/utf8.ts";

/** Where an attempt belongs: positions in the batch, counted from 0. */
export interface AttemptPosition {
  scenario: number;
  attempt: number;
}

/** Where a turn belongs. */
export interface TurnPosition extends AttemptPosition {
  turn: number;
}

/**
 * `running` is unfinished, in this process or in one that died; `interrupted` is unfinished and not
 * to be gone on with unasked. The other three are final.
 */
export const RUN_STATUSES = [
  "running",
  "completed",
  "cancelled",
  "interrupted",
  "failed",
] as const;
export type RunStatus = (typeof RUN_STATUSES)[number];

/** What is known of a run without its request. Times are milliseconds since 1970. */
export interface RunRecord {
  id: string;
  /** The run that this one retries. */
  parentId: string | null;
  status: RunStatus;
  /** Why the run ended before its end, in words for people. */
  detail: string | null;
  testName: string;
  modelId: string;
  endpoint: string;
  attempts: number;
  /** Turns that the whole run has: interactions × attempts. */
  totalTurns: number;
  createdAt: number;
  finishedAt: number | null;
  /** How far the run had come when its status was last set; `null` while it is running. */
  tally: Tally | null;
  /** Whether the endpoint came with a query: it is not stored, and the run cannot go on without. */
  queryRemoved: boolean;
}

export interface StoredRun extends RunRecord {
  request: EvaluateRequest;
}

export interface StoredTurn extends TurnPosition {
  result: InteractionResult;
  /** The turn from its question to its scores. */
  tookMs: number;
}

/** A turn as the events tell it. `seq` grows with every turn of its run, in the order of storing. */
export interface TurnEvent extends TurnPosition {
  seq: number;
  /** The `InteractionResult` as JSON text: it is passed on, not looked into. */
  resultJson: string;
}

/** A turn as it lies in the store. */
export interface TurnText extends TurnPosition {
  tookMs: number;
  /** The `InteractionResult` as JSON text: what is passed on need not be written again. */
  resultJson: string;
}

/** A reply of the model under test, as it is stored until its turn is. */
export interface ReceivedReply extends TurnPosition {
  content: string;
  usage: InteractionUsage | null;
  latencyMs: number;
  /** Set if the endpoint's bytes were not UTF-8. */
  encoding?: typeof NOT_UTF8;
}

/** A reply that an earlier process received and did not finish scoring. */
export interface PendingReply extends ReceivedReply {
  /** How many processes have begun to score it since the one that received it. */
  tries: number;
}

/** How far a run has come. */
export interface Tally {
  done: number;
  failed: number;
  /** Turns whose `overall` could not be had; see `missing_scores`. */
  missing: number;
  /** Turns that have an `overall`, and the mean of it. */
  scored: number;
  mean: number | null;
  /** The newest event's `seq`; 0 where there is none. */
  lastSeq: number;
}

export interface RunFilter {
  testName?: string;
  modelId?: string;
  status?: RunStatus;
  /** The `nextCursor` of the page before. */
  cursor?: string;
  limit: number;
}

export interface RunPage {
  /** Newest first. */
  runs: RunRecord[];
  nextCursor: string | null;
}

/** Looks at runs; also at those of another process that is running them right now. */
export interface RunReader {
  getRun(id: string): Promise<StoredRun | undefined>;
  /** The same without the request, which may be megabytes. */
  getRecord(id: string): Promise<RunRecord | undefined>;
  /** Names of more than 1,000 characters are cut. */
  listRuns(filter: RunFilter): Promise<RunPage>;
  /** All turns in the order of scenario, attempt and turn. */
  turns(runId: string): AsyncIterable<StoredTurn>;
  /**
   * The same in pages and as text; none is empty, and the next is fetched while one is used. A page
   * is about a megabyte at most, unless a single turn is larger.
   */
  turnPages(runId: string): AsyncIterable<TurnText[]>;
  /**
   * The turns stored after `seq`, oldest first; there may be more than are given, but if there are
   * any, at least one is.
   */
  turnsAfter(runId: string, position: { seq: number; limit: number }): Promise<TurnEvent[]>;
  tally(runId: string): Promise<Tally>;
  /**
   * Until it is disposed of, the turns of the run can be read, even if the run is deleted in the
   * meantime.
   */
  keep(runId: string): Disposable;
  close(): Promise<void>;
}

export interface NewRun {
  request: EvaluateRequest;
  testName: string;
  parentId?: string;
  /** The caller's own name for the request; see `CreatedRun`. */
  idempotency?: IdempotencyKey;
}

export interface IdempotencyKey {
  /** Whose key it is: a digest of an API key, or empty if the service has none. */
  caller: string;
  key: string;
  bodyHash: string;
}

/**
 * `created`: a new run. `known`: the same key came with the same body before, and this is its run.
 * `mismatch`: the key came with another body.
 */
export type CreatedRun = { outcome: "created"; id: string; run: StoredRun } | KnownRun;

export interface KnownRun {
  outcome: "known" | "mismatch";
  id: string;
}

export interface StatusChange {
  status: RunStatus;
  detail?: string;
  tally?: Tally;
}

/** How many turns of one attempt are stored. */
export interface AttemptCount extends AttemptPosition {
  turns: number;
}

/**
 * Keeps runs. A promise that resolves means that the data is on the disk and survives `kill -9`.
 * Every method may throw `AppError` 507 `storage_full` or 503 `storage_busy`; see `isStorageFault`.
 */
export interface RunStore extends RunReader {
  /**
   * Stores a run, all of it or nothing, without the query of its endpoint. A retry starts with its
   * parent's turns up to the first failed one of each attempt.
   */
  createRun(run: NewRun): Promise<CreatedRun>;
  /** The run that a key names already, if any. */
  findByKey(key: IdempotencyKey): Promise<KnownRun | undefined>;
  /**
   * Stores a reply whose turn is not scored yet. Unless it is urgent it goes to the disk in a
   * moment, together with others, or not at all if its turn is stored by then. It replaces one
   * that an earlier process left.
   */
  recordReply(
    runId: string,
    reply: ReceivedReply,
    options: { isUrgent: boolean },
  ): Promise<void>;
  /** Where there are replies without a turn. */
  pendingPositions(runId: string): Promise<TurnPosition[]>;
  /** The replies of an attempt whose turns are not stored. */
  pendingReplies(runId: string, position: AttemptPosition): Promise<PendingReply[]>;
  /** Counts one more try to score a reply. */
  countTry(runId: string, position: TurnPosition): Promise<void>;
  /** Stores a turn; a turn that is already there stays as it is. */
  recordTurn(runId: string, turn: StoredTurn): Promise<void>;
  setStatus(id: string, change: StatusChange): Promise<void>;
  /** Runs that are neither final nor interrupted, oldest first. */
  unfinishedRuns(): Promise<string[]>;
  attemptCounts(runId: string): Promise<AttemptCount[]>;
  attemptTurns(runId: string, position: AttemptPosition): Promise<StoredTurn[]>;
  /** False where there was no such run. */
  deleteRun(id: string): Promise<boolean>;
  countOlderThan(moment: number): Promise<number>;
  /** Writes, and rejects if that fails or would be lost: the file was replaced or deleted. */
  checkWrite(): Promise<void>;
  /**
   * The newest moment at which the clock was trusted; before the first, the newest of any run.
   * `null` if there is none.
   */
  trustedMoment(): Promise<number | null>;
  trustMoment(moment: number): Promise<void>;
  /** Deletes the runs that ended before a moment; tells how many they were. */
  deleteOlderThan(moment: number): Promise<number>;
}

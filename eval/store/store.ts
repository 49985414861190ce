import type { EvaluateRequest } from "../test/evaluate_request.ts";
import type { DatasetReader, DatasetStore } from "./datasets.ts";
import type { RunCursor, RunSort, SummaryQueries, TurnQueries } from "./list_query.ts";
import type { GradeReader, GradeWriter } from "./grades.ts";
import type { AttemptPosition, StoredTurn, TurnEvent, TurnText } from "./turn_record.ts";
import type { Gate, RunRecord, RunStatus, StoredRun, Tally } from "./run_record.ts";

export interface RunFilter {
  testName?: string | undefined;
  modelId?: string | undefined;
  status?: RunStatus | undefined;
  groupId?: string | undefined;
  /** In the name of the test, of the model, in a tag or in the id, in any letter case. */
  text?: string | undefined;
  /** Newest first if it is unset. */
  sort?: RunSort;
  /** The `next` of the page before. */
  cursor?: RunCursor | undefined;
  limit: number;
}

export interface RunPage {
  runs: RunRecord[];
  /** `null` on the last page. */
  next: RunCursor | null;
}

/** Reads runs, also those that another process is running. */
export interface RunReader extends TurnQueries, GradeReader, DatasetReader, AsyncDisposable {
  getRun(id: string): Promise<StoredRun | undefined>;
  /** The same without the request, which may have megabytes. */
  getRecord(id: string): Promise<RunRecord | undefined>;
  /** The id of the run that a tag names. */
  findTag(name: string): Promise<string | undefined>;
  /** The tags of some runs, by the run's id; without those that have none. */
  tagsOf(ids: string[]): Promise<Map<string, string[]>>;
  /** Names of more than 1,000 characters are cut. */
  listRuns(filter: RunFilter): Promise<RunPage>;
  /**
   * The runs of a group in the order of its models, one per model: of a run and its retries, the
   * last. None if there is no such group.
   */
  groupRuns(groupId: string): Promise<RunRecord[]>;
  /** All turns in the order of scenario, attempt and turn. */
  turns(runId: string): AsyncIterable<StoredTurn>;
  /**
   * The same in pages and as text. No page is empty, and the next one is fetched while one is used.
   * A page has about 256 KB at most, unless a single turn is larger.
   */
  turnPages(runId: string): AsyncIterable<TurnText[]>;
  /**
   * The turns stored after `seq`, oldest first. Not all of them may be returned, but at least one
   * if there is any.
   */
  turnsAfter(runId: string, position: { seq: number; limit: number }): Promise<TurnEvent[]>;
  tally(runId: string): Promise<Tally>;
  /** What `RunHeadline` says of ended runs, as JSON text by run id; only those that are stored. */
  headlines(runIds: string[]): Promise<Map<string, string>>;
  close(): Promise<void>;
}

export interface NewRun {
  request: EvaluateRequest;
  testName: string;
  parentId?: string;
  /** The run scores its parent's replies again: it takes over no turn of it. */
  isRescore?: boolean;
  /** A run that another database has: it is stored as completed, with these turns. */
  written?: { id: string; turns: StoredTurn[] };
  /** The caller's key for the request; see `CreatedRun`. */
  idempotency?: IdempotencyKey | undefined;
}

/** Runs of the same batch with several models. */
export interface NewGroup {
  runs: (NewRun & { name: string })[];
  /** The caller's key for the request; see `CreatedGroup`. */
  idempotency?: IdempotencyKey | undefined;
}

export interface IdempotencyKey {
  /** A digest of the caller's API key; empty if the service has no API keys. */
  caller: string;
  key: string;
  bodyHash: string;
}

/**
 * `created`: a new run. `known`: the key was used before with the same body, and this is its run.
 * `mismatch`: the key was used before with a different body.
 */
type CreatedRun = { outcome: "created"; id: string; run: StoredRun } | KnownRun;

export interface KnownRun {
  outcome: "known" | "mismatch";
  id: string;
}

/** The same for a group; `id` is the group's. */
type CreatedGroup = { outcome: "created"; id: string; runs: StoredRun[] } | KnownRun;

export interface StatusChange {
  status: RunStatus;
  detail?: string;
  /** The progress; `count` has the store count it at this moment. */
  tally?: Tally | "count";
  /** Changes nothing unless the run has one of these. Any if unset. */
  from?: RunStatus[];
}

/** `taken`: a turn was already stored at this position, or the run has ended; nothing is stored. */
export type RecordedTurn = "stored" | "taken";

/** How many turns of one attempt are stored. */
interface AttemptCount extends AttemptPosition {
  turns: number;
}

/**
 * Stores runs. When a promise resolves, the data is on the disk and survives `kill -9`.
 * Every method may throw `AppError` 507 `storage_full`, 503 `storage_busy` or 503
 * `storage_unavailable`; see `isStorageFault`.
 */
export interface RunStore extends RunReader, SummaryQueries, GradeWriter, DatasetStore {
  /**
   * Stores a run completely or not at all. A retry starts with its parent's turns up to the first failed one of each attempt, and takes its place in its
   * group.
   */
  createRun(run: NewRun): Promise<CreatedRun>;
  /** Stores all runs of a group, or none. */
  createGroup(group: NewGroup): Promise<CreatedGroup>;
  /** The run that a key already refers to, if any. */
  findByKey(key: IdempotencyKey): Promise<KnownRun | undefined>;
  /** Stores a turn; a turn that is already stored stays as it is. */
  recordTurn(runId: string, turn: StoredTurn): Promise<RecordedTurn>;
  /** Returns the status that the run has afterwards; `undefined` if there is no such run. */
  setStatus(id: string, change: StatusChange): Promise<RunStatus | undefined>;
  /** Runs that are neither final nor interrupted, oldest first. */
  unfinishedRuns(): Promise<string[]>;
  attemptCounts(runId: string): Promise<AttemptCount[]>;
  attemptTurns(runId: string, position: AttemptPosition): Promise<StoredTurn[]>;
  setGate(id: string, gate: Gate): Promise<void>;
  /**
   * Gives a run a name, and exactly these tags, which name no other run then; what is unset stays as
   * it is.
   */
  describeRun(
    id: string,
    change: { testName?: string | undefined; tags?: string[] | undefined },
  ): Promise<void>;
  /**
   * False if there is no such run. Its tags are deleted too. A group ends with its last run.
   * `endedBefore`: deletes only what `deleteOlderThan` that time would, else returns false.
   */
  deleteRun(id: string, only?: { endedBefore?: number }): Promise<boolean>;
  countOlderThan(moment: number): Promise<number>;
  /** Writes, and rejects if that fails, or if the file was replaced or deleted. */
  checkWrite(): Promise<void>;
  /** Says beside the file where its service answers, until the file is closed. */
  announce?(url: string): Promise<void>;
  /** Reads the newest run; rejects if that fails. */
  checkRead(): Promise<void>;
  /**
   * The latest time at which the clock was trusted; if there is none, the latest time of any run.
   * `null` if there is neither.
   */
  trustedMoment(): Promise<number | null>;
  trustMoment(moment: number): Promise<void>;
  /** Deletes the runs without a tag that ended before a time, and returns their number. */
  deleteOlderThan(moment: number): Promise<number>;
}

import type { EvaluateRequest } from "../test/evaluate_request.ts";
import type { ScoringPorts } from "../score/scoring_ports.ts";
import type { JudgeModel } from "../score/judge_model.ts";
import type { ScoreDescription } from "../score/score.ts";
import type { RunManager } from "../run/manager.ts";
import type { RunReader, RunStore } from "../store/store.ts";

/** Standard output or standard error. */
export interface CliStream {
  write(text: string): void;
  /** Whether it is a terminal, so that lines may be redrawn. */
  readonly isTerminal: boolean;
  readonly columns: number;
}

/** The characters that clear the current line of a terminal; none if it is not one. */
export function clearLine({ isTerminal }: CliStream): string {
  return isTerminal ? "\r\x1b[K" : ""; // back to its start, and the rest of it cleared
}

/** Requests to end the process. */
export interface Interrupts extends Disposable {
  /** Aborted by the first Ctrl-C or stop signal. */
  readonly first: AbortSignal;
  readonly second: AbortSignal;
}

/** Everything the command line needs from outside: files, streams, storage and the network. */
export interface CliContext {
  /** `-` is standard input. Throws `UsageError` for what cannot be read or is not UTF-8. */
  readText(path: string): Promise<string>;
  /** Absolute, and without links. Throws `UsageError` for what cannot be read. */
  realPath(path: string): Promise<string>;
  /** The same as `readText`, while it is read. */
  readPieces(path: string): AsyncIterable<string>;
  /** Writes a file piece by piece. */
  writeText(path: string, pieces: AsyncIterable<string>): Promise<void>;
  /** Throws `UsageError` if the file could not be written later. */
  requireWritable(path: string): Promise<void>;
  /** Results. */
  readonly out: CliStream;
  /** Progress and errors. */
  readonly err: CliStream;
  /** Handles Ctrl-C until it is disposed of. */
  watchInterrupts(): Interrupts;
  /** Read-only; a service may be using the same file. */
  openReader(): Promise<RunReader>;
  /** For writing; throws `ConfigError` if another process has the file open. */
  openStore(options?: {
    /** True if `createManager` follows: what that needs is loaded in the meantime. */
    isForRuns?: boolean;
    /** True for a command that needs what is stored: a file that is not there is not created. */
    mustExist?: boolean;
  }): Promise<RunStore>;
  /** Ends the encoder that was started early, if this run does not need it. */
  prepareScoring(request: EvaluateRequest): void;
  /** Copies the database into a new file; throws `UsageError` if it cannot. */
  backUp(path: string): Promise<void>;
  /** `concurrency`: conversations at once; the configured number if it is `undefined`. */
  createManager(store: RunStore, concurrency: number | undefined): Promise<RunManager>;
  /** Once there is a manager: warnings about models, or the judge, that will be shut down. */
  findShutdowns(requests: EvaluateRequest[]): Promise<string[]>;
  /** Throws if the configuration does not allow the endpoint. */
  requireAllowed(request: EvaluateRequest): void;
  /** What the scores mean, as they are computed with the configuration. */
  describeScores(): Promise<ScoreDescription[]>;
  /** The configured judge, if there is one. */
  judge(): Promise<JudgeModel | undefined>;
  /** What scores are computed with. */
  scoring(): Promise<ScoringPorts>;
  /** `EVAL_MAX_ATTEMPTS`. */
  readonly maxAttempts: number;
  /** Milliseconds since an arbitrary start. */
  now(): number;
}

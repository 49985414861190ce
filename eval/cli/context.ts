import type { EvaluateRequest } from "../../shared/schemas/evaluate.ts";
import type { RunManager } from "../run/manager.ts";
import type { RunReader, RunStore } from "../store/store.ts";

/** A stream of the terminal or of whatever stands in its place. */
export interface CliStream {
  write(text: string): void;
  /** Whether a person is looking, so that lines may be drawn over. */
  readonly isTerminal: boolean;
  readonly columns: number;
}

/** A person who wants the process to end. */
export interface Interrupts extends Disposable {
  /** Aborted by the first Ctrl-C, or what the system sends in its place. */
  readonly first: AbortSignal;
  readonly second: AbortSignal;
}

/** Everything the command line has from outside: files, streams, storage and the network. */
export interface CliContext {
  /** `-` is the standard input. */
  readText(path: string): Promise<string>;
  /** Writes a file piece by piece. */
  writeText(path: string, pieces: AsyncIterable<string>): Promise<void>;
  /** Throws `UsageError` where a file could not be written later. */
  requireWritable(path: string): Promise<void>;
  /** Results. */
  readonly out: CliStream;
  /** Progress and errors. */
  readonly err: CliStream;
  /** Takes Ctrl-C over from the system until it is disposed of. */
  watchInterrupts(): Interrupts;
  /** For looking only; a service may be running on the same file. */
  openReader(): Promise<RunReader>;
  /** For running; throws `ConfigError` where another process has the file. */
  openStore(): Promise<RunStore>;
  /** Copies the database into a new file; throws `UsageError` if it cannot. */
  backUp(path: string): Promise<void>;
  /** Has conversations, so many at once; the configured number where it is `undefined`. */
  createManager(store: RunStore, concurrency: number | undefined): RunManager;
  /** Throws where the configuration does not allow the endpoint. */
  requireAllowed(request: EvaluateRequest): void;
  /** `EVAL_MAX_ATTEMPTS`. */
  readonly maxAttempts: number;
  /** Milliseconds, from any start. */
  now(): number;
}

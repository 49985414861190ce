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

/** What a command needs of the service. */
export interface ServiceNeed {
  /** `create`: it may write into a database that does not exist yet. */
  access: "read" | "write" | "create";
  /** Conversations at once; the configured number if unset. */
  concurrency?: number | undefined;
  /** What is about to be evaluated, as far as it is known; it may be invalid. */
  batch?: unknown;
}

/** The service: in this process, or one that is running. */
export interface ServiceLink extends AsyncDisposable {
  /** `path` begins with a slash, and may have a query. */
  send(path: string, init: RequestInit): Promise<Response>;
  /** Warnings about models, and the judge, that will be shut down. */
  findShutdowns?(models: { endpoint: string; model_id: string }[]): Promise<string[]>;
}

/** Everything the command line needs from outside. */
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
  /**
   * The service at `url`, the one that has the database open, or one in this process. Throws
   * `ConfigError` if the database cannot be opened.
   */
  openService(need: ServiceNeed, url: string | undefined): Promise<ServiceLink>;
  /** Copies the database into a new file; throws `UsageError` if it cannot. */
  backUp(path: string): Promise<void>;
  /** The address that `--url` names. */
  readonly url?: string | undefined;
  /** Milliseconds since an arbitrary start. */
  now(): number;
}

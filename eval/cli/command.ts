import type { CliContext } from "./context.ts";

/** What the process tells its caller. */
export const EXIT = {
  passed: 0,
  /** Errors of use, and endpoints that cannot be asked. */
  error: 1,
  /** The run is below its threshold, or regressed against its baseline. */
  notPassed: 100,
  /** Ended by Ctrl-C: 128 + SIGINT, as shells have it. */
  interrupted: 130,
  /** `assay-eval export … | head` has read enough: 128 + SIGPIPE. */
  nobodyReads: 141,
} as const;

/** A command line that cannot be followed; the message says what is wrong with it. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** One subcommand. */
export interface Command {
  /** A line for the list of commands. */
  readonly summary: string;
  /** The whole of its `--help`, with an example. */
  readonly help: string;
  /** Takes the arguments after its name; resolves with the exit code. */
  execute(args: string[], context: CliContext): Promise<number>;
}

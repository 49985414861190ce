import type { CliContext } from "./context.ts";

export const EXIT = {
  passed: 0,
  /** Wrong usage, endpoints that cannot be reached, and nothing to compare with. */
  error: 1,
  /** The run does not meet its gate, or regressed against its baseline. */
  notPassed: 100,
  /** Ended by Ctrl-C: 128 + SIGINT, the convention of shells. */
  interrupted: 130,
  /** The reader of a pipe has gone, as in `assay-eval export … | head`: 128 + SIGPIPE. */
  brokenPipe: 141,
} as const;

/** An invalid command line; the message says what is wrong. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** Whether these arguments of a command ask what it does. */
export function asksForHelp(args: string[]): boolean {
  return args.includes("--help") || args.includes("-h");
}

export interface Command {
  /** A line for the list of commands. */
  readonly summary: string;
  /** The text of its `--help`, with an example. */
  readonly help: string;
  /** Takes the arguments after its name; resolves with the exit code. */
  execute(args: string[], context: CliContext): Promise<number>;
}

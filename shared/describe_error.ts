import { AppError } from "./errors.ts";

/** An error as one field of a log line. */
export type DescribeError = (error: Error) => string;

/**
 * What it was and where: `TypeError at graph.ts:57:12`, and the same of its causes. Not its message,
 * which may hold anyone's words, nor its stack, which holds the machine's paths. An `AppError` was
 * written to be read, and says what its caller may read; its cause may hold a provider's raw words.
 */
export const describeBriefly: DescribeError = (error) => {
  if (error instanceof AppError) return `${error.name}: ${error.message}`;
  const what = [nameOf(error), codeOf(error)].filter(Boolean).join(" ");
  const place = placeOf(error.stack ?? "");
  return withCause(place ? `${what} at ${place}` : what, { error, describe: describeBriefly });
};

/** With its message, its stack and its causes, for who looks for the fault. */
export const describeWhole: DescribeError = (error) => {
  if (error instanceof AppError) return `${error.name}: ${error.message}`;
  const own = error.stack ?? `${error.name}: ${error.message}`;
  return withCause(own, { error, describe: describeWhole, separator: "\n" });
};

function withCause(
  own: string,
  { error: { cause }, describe, separator = ", " }: {
    error: Error;
    describe: DescribeError;
    separator?: string;
  },
): string {
  return cause instanceof Error ? `${own}${separator}caused by ${describe(cause)}` : own;
}

/** A class's name; what else may stand there is none of ours. */
function nameOf({ name }: Error): string {
  return /^[\w.]{1,64}$/.test(name) ? name : "Error";
}

/** As systems and databases give it: `ENOSPC`. */
function codeOf(error: Error): string {
  const { code } = error as { code?: unknown };
  return typeof code === "string" && /^[A-Z][A-Z\d_]{1,63}$/.test(code) ? code : "";
}

/** The first place in our own code, else the first of all; a file's name, line and column. */
function placeOf(stack: string): string | undefined {
  const frames = stack.split("\n").filter((line) => /^\s+at .*:\d+:\d+\)?$/.test(line));
  const own = frames.find((frame) =>
    frame.includes("file:") && !/\/npm\/|node_modules/.test(frame)
  );
  return /([^\s/\\(]+:\d+:\d+)\)?$/.exec(own ?? frames[0] ?? "")?.[1];
}

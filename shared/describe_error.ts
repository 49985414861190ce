import { AppError } from "./errors.ts";

/** An error as one field of a log line. */
export type DescribeError = (error: Error) => string;

/** Causes may form a circle. */
const MOST_CAUSES = 5;

/**
 * The name and place of an error, `TypeError at graph.ts:57:12`, and of its causes. Not its message,
 * which may contain user data, nor its stack, which contains paths of the machine. The message of an
 * `AppError` is safe to show; its cause is left out, because it may contain a provider's raw text.
 */
export const describeBriefly: DescribeError = (error) =>
  chainOf(error).map(briefly).join(", caused by ");

/** With message, stack and causes, for debugging. */
export const describeWhole: DescribeError = (error) =>
  chainOf(error).map(whole).join("\ncaused by ");

/** An error and its causes, but not an `AppError`'s. */
function chainOf(error: Error): Error[] {
  const chain = [error];
  for (let last = error; chain.length < MOST_CAUSES; chain.push(last)) {
    if (last instanceof AppError || !(last.cause instanceof Error)) break;
    last = last.cause;
  }
  return chain;
}

function briefly(error: Error): string {
  if (error instanceof AppError) return `${error.name}: ${error.message}`;
  const what = [nameOf(error), codeOf(error)].filter(Boolean).join(" ");
  const place = placeOf(error);
  return place ? `${what} at ${place}` : what;
}

function whole(error: Error): string {
  if (error instanceof AppError) return `${error.name}: ${error.message}`;
  return error.stack ?? `${error.name}: ${error.message}`;
}

/** The name of the error's class; anything else in that field may be user data. */
function nameOf({ name }: Error): string {
  return /^[\w.]{1,64}$/.test(name) ? name : "Error";
}

/** The code of a system or database error: `ENOSPC`. */
function codeOf(error: Error): string {
  const { code } = error as { code?: unknown };
  return typeof code === "string" && /^[A-Z][A-Z\d_]{1,63}$/.test(code) ? code : "";
}

/** The first place in our own code, else the first of all; a file's name, line and column. */
function placeOf({ stack = "", message }: Error): string | undefined {
  const at = stack.indexOf(message); // which may have lines that look like frames
  const frames = stack.slice(at < 0 ? 0 : at + message.length).split("\n").filter((line) =>
    /^\s+at .*:\d+:\d+\)?$/.test(line)
  );
  const own = frames.find((frame) =>
    frame.includes("file:") && !/\/npm\/|node_modules/.test(frame)
  );
  return /([^\s/\\(]+:\d+:\d+)\)?$/.exec(own ?? frames[0] ?? "")?.[1];
}

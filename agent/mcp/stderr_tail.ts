import type { Readable } from "node:stream";

const MAX_CHARACTERS = 4_096;

// deno-lint-ignore no-control-regex -- this is how terminals are told to change colours
const COLOURS = /\u001b\[[\d;]*[A-Za-z]/g;

/** A line whose beginning is missing, if others follow; else such a word. */
const CUT_START = /^(?:.*\n|\S*\s)(?=\s*\S)/;

/**
 * Reads a program's standard error for as long as it lives, and keeps the end of it. It must be read:
 * a program that fills the pipe stands still. What is kept begins with a whole line: a secret without
 * its beginning would not be recognised.
 */
export function keepTail(stream: Readable | null): () => string {
  const decoder = new TextDecoder();
  let tail = "";
  let isCut = false;
  stream?.on("data", (chunk: Uint8Array) => {
    // Of a long chunk only the end is decoded: a program may write without end.
    const end = chunk.subarray(Math.max(0, chunk.length - 4 * MAX_CHARACTERS));
    const text = tail + decoder.decode(end, { stream: true });
    tail = text.slice(-MAX_CHARACTERS);
    isCut ||= end.length < chunk.length || tail.length < text.length;
  });
  stream?.on("error", () => {}); // it ends with the program
  return () => (isCut ? tail.replace(CUT_START, "") : tail).replace(COLOURS, "").trim();
}

import type { Readable } from "node:stream";

const MAX_CHARACTERS = 4_096;

// deno-lint-ignore no-control-regex -- this is how terminals are told to change colours
const COLOURS = /\u001b\[[\d;]*[A-Za-z]/g;

/**
 * Reads a program's standard error for as long as it lives, and keeps the end of it. It must be read:
 * a program that fills the pipe stands still.
 */
export function keepTail(stream: Readable | null): () => string {
  const decoder = new TextDecoder();
  let tail = "";
  stream?.on("data", (chunk: Uint8Array) => {
    // Of a long chunk only the end is decoded: a program may write without end.
    const end = chunk.subarray(Math.max(0, chunk.length - 4 * MAX_CHARACTERS));
    tail = (tail + decoder.decode(end, { stream: true })).slice(-MAX_CHARACTERS);
  });
  stream?.on("error", () => {}); // it ends with the program
  return () => tail.replace(COLOURS, "").trim();
}

import type { Readable } from "node:stream";

const SHOWN_CHARACTERS = 4_096;
const KEPT_CHARACTERS = 2 * SHOWN_CHARACTERS;

// deno-lint-ignore no-control-regex -- this is how terminals are told to change colours
const COLOURS = /\u001b\[[\d;]*[A-Za-z]/g;

/**
 * Reads a program's standard error for as long as it lives, and keeps the end of it. It must be read:
 * a program that fills the pipe stands still. Of older text as much is kept as is shown: a secret
 * without its beginning would not be recognised.
 */
export function keepTail(
  stream: Readable | null,
  redact: (text: string) => string,
): () => string {
  const decoder = new TextDecoder();
  let tail = "";
  let isCut = false;
  stream?.on("data", (chunk: Uint8Array) => {
    // Of a long chunk only the end is decoded: a program may write without end.
    const end = chunk.subarray(Math.max(0, chunk.length - 4 * KEPT_CHARACTERS));
    const text = tail + decoder.decode(end, { stream: true });
    tail = text.slice(-KEPT_CHARACTERS);
    isCut ||= end.length < chunk.length || tail.length < text.length;
  });
  stream?.on("error", () => {}); // it ends with the program
  const clean = (text: string) => redact(text.replace(COLOURS, ""));
  return () => {
    const older = isCut ? clean(tail.slice(0, -SHOWN_CHARACTERS)) : "";
    return clean(tail).slice(older.length).slice(-SHOWN_CHARACTERS).trim();
  };
}

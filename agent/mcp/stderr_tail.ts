import type { Readable } from "node:stream";

const SHOWN_CHARACTERS = 4_096;
/** Of older text as much as the longest variable or argument of a program: 128 kB on Linux. */
const OLDER_CHARACTERS = 128 * 1024;

// deno-lint-ignore no-control-regex -- this is how terminals are told to change colours
const COLOURS = /\u001b\[[\d;]*[A-Za-z]/g;

/**
 * Reads a program's standard error for as long as it lives, and keeps the end of it. It must be read:
 * a program that fills the pipe stands still. Older text than is shown is kept, too: a secret without
 * its beginning would not be recognised.
 */
export function keepTail(
  stream: Readable | null,
  redact: (text: string) => string,
  { olderCharacters = OLDER_CHARACTERS }: { olderCharacters?: number } = {},
): () => string {
  const kept = SHOWN_CHARACTERS + olderCharacters;
  const decoder = new TextDecoder();
  let tail = "";
  let isCut = false;
  stream?.on("data", (chunk: Uint8Array) => {
    // Of a long chunk only the end is decoded: a program may write without end.
    const end = chunk.subarray(Math.max(0, chunk.length - 4 * kept));
    tail += decoder.decode(end, { stream: true });
    isCut ||= end.length < chunk.length || tail.length > kept;
    if (tail.length > 2 * kept) tail = tail.slice(-kept); // not with each line: it copies the text
  });
  stream?.on("error", () => {}); // it ends with the program
  const clean = (text: string) => redact(text.replace(COLOURS, ""));
  return () => {
    const older = isCut ? clean(tail.slice(0, -SHOWN_CHARACTERS)) : "";
    const all = clean(tail);
    return all.slice(sharedLength(all, older)).slice(-SHOWN_CHARACTERS).trim();
  };
}

/** How many characters two texts begin with alike. A secret in the first may be cut in the other. */
function sharedLength(text: string, other: string): number {
  let length = 0;
  while (length < other.length && text[length] === other[length]) length++;
  return length;
}

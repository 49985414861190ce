import { streamResponse } from "./answer.ts";

const CHUNK_CHARACTERS = 64 * 1024;

/**
 * Answers with JSON text in pieces, without having the whole text in memory and without blocking the
 * event loop. No piece may end within a surrogate pair.
 */
export function streamPieces(
  pieces: Iterable<string> | AsyncIterable<string>,
  headers: Record<string, string> = {},
): Response {
  const bytes = ReadableStream.from(encodePieces(pieces));
  return streamResponse(bytes, { headers: { "content-type": "application/json", ...headers } });
}

/** Many small pieces as few large ones, which are cheaper to send. */
export async function* gatherPieces(
  pieces: Iterable<string> | AsyncIterable<string>,
): AsyncGenerator<string> {
  let chunk = "";
  for await (const piece of pieces) {
    chunk += piece;
    if (chunk.length < CHUNK_CHARACTERS) continue;
    yield chunk;
    chunk = "";
  }
  yield chunk;
}

async function* encodePieces(pieces: Iterable<string> | AsyncIterable<string>) {
  const encoder = new TextEncoder();
  for await (const chunk of gatherPieces(pieces)) yield encoder.encode(chunk);
}

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
  return new Response(bytes, { headers: { "content-type": "application/json", ...headers } });
}

/**
 * The JSON text of a value in pieces; together they are what `JSON.stringify` gives. Arrays and
 * objects down to `depth` are written piece by piece.
 */
export function* jsonPieces(value: unknown, depth: number): Generator<string> {
  if (depth === 0 || typeof value !== "object" || value === null) {
    yield JSON.stringify(value) ?? "null";
  } else if (Array.isArray(value)) {
    yield "[";
    for (const [index, item] of value.entries()) {
      if (index > 0) yield ",";
      yield* jsonPieces(item, depth - 1);
    }
    yield "]";
  } else {
    yield "{";
    let comma = "";
    for (const [key, item] of Object.entries(value)) {
      if (item === undefined) continue;
      yield `${comma}${JSON.stringify(key)}:`;
      yield* jsonPieces(item, depth - 1);
      comma = ",";
    }
    yield "}";
  }
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

/** The same for pieces that are all there: an asynchronous step costs more than a small piece. */
export function* gatherText(pieces: Iterable<string>): Generator<string> {
  let chunk = "";
  for (const piece of pieces) {
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

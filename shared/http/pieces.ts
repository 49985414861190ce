type Bytes = Uint8Array<ArrayBuffer>;

const BUFFER_BYTES = 16 * 1024;

/**
 * The bytes of a body as they arrive. The next piece overwrites a piece, so use it at once. Without a
 * buffer of its own a reader gets a new one of 64 kB for each piece and takes three times as long.
 */
export async function* readPieces(body: ReadableStream<Bytes>): AsyncGenerator<Bytes> {
  const reader = bufferedReader(body);
  if (!reader) return yield* body;
  let buffer = new ArrayBuffer(BUFFER_BYTES);
  try {
    for (;;) {
      const { done, value } = await reader.read(new Uint8Array(buffer));
      if (done) return;
      yield value;
      buffer = value.buffer;
    }
  } finally {
    reader.cancel().catch(() => {}); // no effect on a body that has ended
  }
}

/** `undefined` for a stream that brings its own buffers, such as that of an unpacked body. */
export function bufferedReader(
  body: ReadableStream<Bytes>,
): ReadableStreamBYOBReader | undefined {
  try {
    return body.getReader({ mode: "byob" });
  } catch (error) {
    if (error instanceof TypeError && !body.locked) return undefined;
    throw error;
  }
}

/**
 * The text of an answer as it arrives. With a reader, not `for await`: not every browser can iterate
 * a stream (Safari).
 */
export async function* readTextPieces(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
): AsyncGenerator<string> {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  try {
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
      yield piece.value;
    }
  } finally {
    reader.cancel().catch(() => {}); // it has failed already, or nobody reads on
  }
}

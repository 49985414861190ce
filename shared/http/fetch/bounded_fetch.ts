/** An answer that is longer than any real one. */
export class AnswerTooLarge extends Error {
  override readonly name = "AnswerTooLarge";
}

/** More than the longest answer of any model, with all its log probabilities. */
export const MAX_ANSWER_MB = 32;
const MAX_ANSWER_BYTES = MAX_ANSWER_MB * 1024 * 1024;

/**
 * A `fetch` whose answers end at `maxBytes`, unpacked: reading on then throws `AnswerTooLarge` and
 * closes the connection. An answer that declares a smaller length is passed through as it is.
 */
export function createBoundedFetch(
  fetch: typeof globalThis.fetch,
  maxBytes: number = MAX_ANSWER_BYTES,
): typeof globalThis.fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    const { body, headers, status, statusText } = response;
    if (!body || isKnownToFit(headers, maxBytes)) return response;
    // With the signal: Deno's own (2.9.5) is lost with the first response when that is collected,
    // and a reader of the second would then wait for ever.
    const signal = init?.signal;
    const bounded = body.pipeThrough(limitBytes(maxBytes), signal ? { signal } : {});
    return new Response(bounded, { status, statusText, headers });
  };
}

function isKnownToFit(headers: Headers, maxBytes: number): boolean {
  const length = headers.get("content-length");
  return length !== null && Number(length) <= maxBytes && !headers.has("content-encoding");
}

function limitBytes(maxBytes: number): TransformStream<Uint8Array, Uint8Array<ArrayBuffer>> {
  let bytes = 0;
  return new TransformStream({
    transform(chunk: Uint8Array<ArrayBuffer>, controller) {
      bytes += chunk.byteLength;
      if (bytes > maxBytes) throw new AnswerTooLarge(`the answer is over ${maxBytes} bytes`);
      controller.enqueue(chunk);
    },
  });
}

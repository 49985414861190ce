/** How text is marked if its bytes were not UTF-8, and some of them were replaced by U+FFFD. */
export const NOT_UTF8 = "not utf-8";

export interface DecodedAnswer {
  value: unknown;
  /** Set if some of the text was replaced. */
  encoding?: typeof NOT_UTF8;
}

/** An answer that is not JSON. */
export class NotJson extends SyntaxError {
  override readonly name = "NotJson";
  constructor(readonly text: string) {
    super("the answer is not JSON");
  }
}

/** Reads the bytes of an answer as JSON. Throws `NotJson`. */
export function parseJsonAnswer(bytes: ArrayBuffer): DecodedAnswer {
  try {
    return { value: parseJson(new TextDecoder("utf-8", { fatal: true }).decode(bytes)) };
  } catch (error) {
    if (error instanceof NotJson) throw error;
    return { value: parseJson(new TextDecoder().decode(bytes)), encoding: NOT_UTF8 };
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new NotJson(text);
  }
}

/** Decodes a stream as UTF-8, with replacement; `onInvalid` is called once if it is not. */
export function createUtf8Decoder(
  onInvalid: () => void,
): TransformStream<Uint8Array<ArrayBuffer>, string> {
  const decoder = new TextDecoder();
  let strict: TextDecoder | undefined = new TextDecoder("utf-8", { fatal: true });

  function check(chunk: Uint8Array<ArrayBuffer>, stream: boolean): void {
    try {
      strict?.decode(chunk, { stream });
    } catch {
      strict = undefined;
      onInvalid();
    }
  }

  return new TransformStream({
    transform(chunk, controller) {
      check(chunk, true);
      const text = decoder.decode(chunk, { stream: true });
      if (text !== "") controller.enqueue(text);
    },
    flush(controller) {
      check(new Uint8Array(), false);
      const text = decoder.decode();
      if (text !== "") controller.enqueue(text);
    },
  });
}

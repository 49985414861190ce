/** How text is marked if its bytes were not UTF-8, and some of them were replaced by U+FFFD. */
export const NOT_UTF8 = "not utf-8";

export interface DecodedAnswer {
  value: unknown;
  /** Set if some of the text was replaced. */
  encoding?: typeof NOT_UTF8;
}

/** Decodes the pieces of a text. */
interface Utf8Decoder {
  decode(piece: Uint8Array<ArrayBuffer>): string;
  /** The rest of the text, at the end. */
  end(): string;
}

/** Decodes UTF-8, with replacement; `onInvalid` is called once if it is not. */
export function createUtf8Decoder(onInvalid: () => void): Utf8Decoder {
  const decoder = new TextDecoder();
  let strict: TextDecoder | undefined = new TextDecoder("utf-8", { fatal: true });

  function decode(piece: Uint8Array<ArrayBuffer>, stream: boolean): string {
    try {
      strict?.decode(piece, { stream });
    } catch {
      strict = undefined;
      onInvalid();
    }
    return decoder.decode(piece, { stream });
  }

  return {
    decode: (piece) => decode(piece, true),
    end: () => decode(new Uint8Array(), false),
  };
}

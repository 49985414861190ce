/** How text is marked if its bytes were not UTF-8, and some of them were replaced by U+FFFD. */
export const NOT_UTF8 = "not utf-8";

export interface DecodedAnswer {
  value: unknown;
  /** Set if some of the text was replaced. */
  encoding?: typeof NOT_UTF8;
}

/** Decodes the pieces of a text in UTF-8, with replacement; `onInvalid` is called once if it is not. */
export function createUtf8Decoder(onInvalid: () => void) {
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
    decode: (piece: Uint8Array<ArrayBuffer>) => decode(piece, true),
    /** The rest of the text, at the end. */
    end: () => decode(new Uint8Array(), false),
  };
}

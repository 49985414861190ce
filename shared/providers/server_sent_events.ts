import { readPieces } from "../http/outgoing_fetch.ts";

/**
 * The `data` of each event of a stream. Ends where the stream ends, also in the middle of an event,
 * whose data so far is then the last. Event names, ids and comments are left out. An `error:` field,
 * which older versions of llama.cpp send, is the data of an event of that name.
 */
export async function* readServerSentEvents(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  options: {
    /** Called with each piece of the text, for messages about a body that has no events. */
    onText?: (text: string) => void;
    /** Called once if the bytes are not UTF-8. */
    onInvalid?: () => void;
    /** Called before the last event if the stream ended within a line of it. */
    onUnfinished?: () => void;
    /** Called for each comment, which keeps the connection. */
    onComment?: () => void;
    /** Called before each event that is named `error`. */
    onError?: () => void;
  } = {},
): AsyncGenerator<string> {
  const { onText, onInvalid = () => {}, onUnfinished, onComment, onError } = options;
  let data: string[] = [];
  /** The line so far, in the pieces that it came in. */
  let rest: string[] = [];
  let isError = false;

  function* takeLines(lines: string[]): Generator<string> {
    for (const line of lines) {
      if (line.startsWith("data:")) data.push(line.slice(line[5] === " " ? 6 : 5));
      else if (line.startsWith(":")) onComment?.();
      else if (line.startsWith("error:")) data.push(line.slice("error:".length).trimStart());
      isError ||= /^(event: ?error$|error:)/.test(line);
      if (line !== "") continue;
      if (data.length > 0 && isError) onError?.();
      if (data.length > 0) yield data.join("\n");
      data = [];
      isError = false;
    }
  }

  function takeText(text: string): string[] {
    if (text === "") return [];
    onText?.(text);
    // Only new text is searched: a line of megabytes arrives in hundreds of pieces.
    const endsBefore = rest.at(-1)?.endsWith("\r");
    const isWithin = !endsBefore && !/[\r\n]/.test(text);
    rest.push(text);
    if (isWithin) return [];
    // A carriage return at the very end waits: its line feed may come with the next piece.
    const lines = rest.join("").split(/\r\n|\n|\r(?!$)/);
    rest = [lines.pop() ?? ""];
    return lines;
  }

  const decoder = createUtf8Decoder(onInvalid);
  for await (const piece of readPieces(body)) {
    for (const event of takeLines(takeText(decoder.decode(piece)))) yield event;
  }
  for (const event of takeLines(takeText(decoder.end()))) yield event;
  const last = rest.join("").replace(/\r$/, "");
  yield* takeLines([last]);
  if (last !== "" && data.length > 0) onUnfinished?.();
  yield* takeLines([""]);
}

/** Decodes the pieces of a text in UTF-8, with replacement; `onInvalid` is called once if it is not. */
function createUtf8Decoder(onInvalid: () => void) {
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

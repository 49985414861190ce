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

/** One event of a stream, as the service sent it. */
export interface ServerEvent {
  /** `message` if the service gave no name. */
  name: string;
  data: string;
  id?: string;
}

/** The events of an answer as they arrive. Comments are left out, and so is an unfinished event. */
export async function* readServerEvents(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
): AsyncGenerator<ServerEvent> {
  let rest = "";
  for await (const piece of readTextPieces(body)) {
    const blocks = (rest + piece).replaceAll("\r\n", "\n").split("\n\n");
    rest = blocks.pop() ?? "";
    for (const block of blocks) {
      const event = parseEvent(block);
      if (event) yield event;
    }
  }
}

function parseEvent(block: string): ServerEvent | undefined {
  const data: string[] = [];
  let name = "message";
  let id: string | undefined;
  for (const line of block.split("\n")) {
    const [, field, value = ""] = /^(\w+): ?(.*)$/.exec(line) ?? [];
    if (field === "data") data.push(value);
    if (field === "event") name = value;
    if (field === "id") id = value;
  }
  if (data.length === 0) return undefined;
  return { name, data: data.join("\n"), ...(id !== undefined && { id }) };
}

import { readServerSentEvents } from "../../shared/providers/server_sent_events.ts";

/** One event of a stream: its name and its parsed data. */
export interface SeenEvent {
  event: string;
  // deno-lint-ignore no-explicit-any
  data: any;
}

/** Every named event of a response, as they come. Comments are left out. */
export async function* readEvents(response: Response): AsyncGenerator<SeenEvent> {
  let text = "";
  for await (const piece of response.body!.pipeThrough(new TextDecoderStream())) {
    text += piece;
    const blocks = text.split("\n\n");
    text = blocks.pop() ?? "";
    for (const block of blocks) {
      const event = /^event: ?(.*)$/m.exec(block)?.[1];
      const data = [...block.matchAll(/^data: ?(.*)$/gm)].map((match) => match[1]).join("\n");
      if (event) yield { event, data: JSON.parse(data) };
    }
  }
}

/** Every chunk of an OpenAI stream, `[DONE]` left out. */
export async function readChunks(response: Response) {
  // deno-lint-ignore no-explicit-any
  const chunks: any[] = [];
  for await (const data of readServerSentEvents(response.body!)) {
    if (data !== "[DONE]") chunks.push(JSON.parse(data));
  }
  return chunks;
}

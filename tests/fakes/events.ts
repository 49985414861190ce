import { readServerSentEvents } from "../../shared/providers/server_sent_events.ts";

/** One event of a stream: its name, its parsed data, and its id if it has one. */
export interface SeenEvent {
  event: string;
  id?: string;
  // deno-lint-ignore no-explicit-any
  data: any;
}

/** Every named event of a response, as they come; leaving the loop cancels the response. */
export async function* readEvents(response: Response): AsyncGenerator<SeenEvent> {
  let text = "";
  for await (const piece of response.body!.pipeThrough(new TextDecoderStream())) {
    text += piece;
    const blocks = text.split("\n\n");
    text = blocks.pop() ?? "";
    for (const block of blocks) {
      const event = /^event: ?(.*)$/m.exec(block)?.[1];
      const id = /^id: ?(.*)$/m.exec(block)?.[1];
      const data = [...block.matchAll(/^data: ?(.*)$/gm)].map((match) => match[1]).join("\n");
      if (event) yield { event, data: JSON.parse(data), ...(id !== undefined && { id }) };
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

export interface ReceivedEvent {
  event: string;
  id: string | undefined;
  data: unknown;
}

/** Reads server-sent events as a browser does; leaving the loop cancels the response. */
export async function* readEvents(response: Response): AsyncGenerator<ReceivedEvent> {
  let text = "";
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    const messages = text.split("\n\n");
    text = messages.pop()!;
    for (const message of messages) {
      const fields = new Map(
        message.split("\n").map((line) => {
          const colon = line.indexOf(":");
          return [line.slice(0, colon), line.slice(colon + 1)];
        }),
      );
      const data = fields.get("data");
      if (data === undefined) continue;
      yield {
        event: fields.get("event") ?? "message",
        id: fields.get("id"),
        data: JSON.parse(data),
      };
    }
  }
}

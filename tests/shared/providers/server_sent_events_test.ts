import { assertEquals } from "@std/assert";
import { readServerSentEvents } from "../../../shared/providers/server_sent_events.ts";

const STREAMS: Record<string, [text: string, events: string[]]> = {
  "line feeds": ["data: a\n\ndata: b\n\n", ["a", "b"]],
  "carriage returns": ["data: a\r\rdata: b\r\r", ["a", "b"]],
  "both": ["data: a\r\n\r\ndata: b\r\n\r\n", ["a", "b"]],
  "data in two lines": ["data: a\r\ndata: b\r\n\r\n", ["a\nb"]],
  "no blank after the colon": ["data:a\n\n", ["a"]],
  "blanks that belong to the data": ["data:  a \n\n", [" a "]],
  "empty data": ["data:\n\n", [""]],
  "other fields and comments": [": wait\n\nevent: x\nid: 1\nretry: 2\ndata: a\n\n", ["a"]],
  "no end of the last event": ["data: a\n\ndata: b", ["a", "b"]],
  "nothing": ["", []],
  "characters of several bytes": ["data: ä€🎈\n\n", ["ä€🎈"]],
};
for (const [what, [text, events]] of Object.entries(STREAMS)) {
  Deno.test(`events with ${what} are read, wherever the bytes are split`, async () => {
    const bytes = new TextEncoder().encode(text);
    for (let split = 0; split <= bytes.length; split++) {
      const body = ReadableStream.from([bytes.slice(0, split), bytes.slice(split)]);
      assertEquals(await Array.fromAsync(readServerSentEvents(body)), events, `split at ${split}`);
    }
  });
}

Deno.test("a stream that ends within a line of an event says so", async () => {
  const ends = {
    "data: a": true,
    "data: a\ndata: b": true,
    "data: a\n": false,
    "data: a\n\n": false,
  };
  for (const [text, isExpected] of Object.entries(ends)) {
    let isUnfinished = false;
    const onUnfinished = () => isUnfinished = true;
    await Array.fromAsync(readServerSentEvents(new Blob([text]).stream(), { onUnfinished }));
    assertEquals(isUnfinished, isExpected, JSON.stringify(text));
  }
});

Deno.test("an id is that of its own event, and what the stream ends within can be left out", async () => {
  const ids: string[] = [];
  const text = "id: 1\n\ndata: a\n\nid: 2\ndata: b\n\nid: 3\ndata: c\n";
  const options = { onId: (id: string) => void ids.push(id), isStrict: true };
  const events = await Array.fromAsync(readServerSentEvents(new Blob([text]).stream(), options));
  assertEquals([events, ids], [["a", "b"], ["2"]]);
});

Deno.test("a line of megabytes in small pieces is searched only once", async () => {
  const piece = new TextEncoder().encode("x".repeat(256));
  const [start, end] = ["data: ", "\n\n"].map((text) => new TextEncoder().encode(text));
  const body = ReadableStream.from([start!, ...Array(16_384).fill(piece), end!]);
  const [event] = await Array.fromAsync(readServerSentEvents(body));
  assertEquals(event?.length, 16_384 * 256);
});

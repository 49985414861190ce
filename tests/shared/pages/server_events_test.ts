import { assertEquals } from "@std/assert";
import { readServerEvents } from "../../../shared/pages/server_events.ts";

function streamOf(...pieces: string[]): ReadableStream<Uint8Array<ArrayBuffer>> {
  const encoder = new TextEncoder();
  return ReadableStream.from(pieces.map((piece) => encoder.encode(piece)));
}

Deno.test("events are read with their names and ids, wherever the stream is cut", async () => {
  const text = "id: 7\nevent: turn\ndata: {\ndata: }\n\n: comment\n\ndata: last\r\n\r\ndata: cut";
  const expected = [
    { name: "turn", data: "{\n}", id: "7" },
    { name: "message", data: "last" },
  ];
  for (let at = 0; at <= text.length; at++) {
    const stream = streamOf(text.slice(0, at), text.slice(at));
    assertEquals(await Array.fromAsync(readServerEvents(stream)), expected, `cut at ${at}`);
  }
});

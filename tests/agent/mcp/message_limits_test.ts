import { assertEquals, assertRejects } from "@std/assert";
import { createFloodGuard, createMessageFetch } from "../../../agent/mcp/message_limits.ts";
import { AnswerTooLarge } from "../../../shared/http/fetch/outgoing_fetch.ts";

const NOTIFICATION = { jsonrpc: "2.0", method: "notifications/message" };

Deno.test("a server that sends over a thousand notifications in ten seconds is reported once", () => {
  let now = 0;
  const breaches: string[] = [];
  const look = createFloodGuard((reason) => breaches.push(reason), () => now);
  const send = (count: number, message: unknown) => {
    for (let sent = 0; sent < count; sent++) look(message);
  };
  send(1_000, NOTIFICATION);
  send(100_000, { jsonrpc: "2.0", id: 1, result: {} }); // answers do not count
  now = 10_000;
  send(1_000, NOTIFICATION);
  assertEquals(breaches, []);
  send(5_000, { ...NOTIFICATION, id: 7 }); // requests count too
  assertEquals(breaches, ["it sent over 1000 notifications and requests in 10 s"]);
});

function read(pieces: string[], { type, maxBytes }: { type: string; maxBytes: number }) {
  const breaches: string[] = [];
  const body = new ReadableStream({
    start(controller) {
      for (const piece of pieces) controller.enqueue(new TextEncoder().encode(piece));
      controller.close();
    },
  });
  const response = new Response(body, { headers: { "content-type": type } });
  const fetch = createMessageFetch(() => Promise.resolve(response), {
    maxBytes,
    onBreach: (reason) => breaches.push(reason),
  });
  return { breaches, text: fetch("http://server.test/").then((answer) => answer.text()) };
}

const STREAM = "text/event-stream; charset=utf-8";

Deno.test("a stream of events may be endless, with any line ends and any chunks", async () => {
  for (const end of ["\n\n", "\r\n\r\n", "\r\r"]) {
    const whole = `data: 123456${end}`.repeat(50);
    for (const size of [1, 2, 3, 7, 16]) {
      const pieces = whole.match(new RegExp(`[^]{1,${size}}`, "g"))!;
      const { text, breaches } = read(pieces, { type: STREAM, maxBytes: 20 });
      assertEquals([await text, breaches], [whole, []], JSON.stringify({ end, size }));
    }
  }
});

Deno.test("an endless event is cut at the limit, and its server is reported", async () => {
  const cases = [
    ["data: ", "x".repeat(30)],
    ["data: a\n\ndata: ", "x".repeat(10), "x".repeat(10)],
    ["data: 1\n", "data: 2\n", "data: 3\n", "data: 4\n"], // lines of one event
    ["data: 1\r\n", "data: 2\r\n", "data: 3\r\n"],
  ];
  for (const pieces of cases) {
    const { text, breaches } = read(pieces, { type: STREAM, maxBytes: 20 });
    await assertRejects(() => text, Error, "over 20 bytes");
    assertEquals(breaches, ["it sent a message over 20 bytes"]);
  }
});

Deno.test("an answer over the limit fails, and its session continues", async () => {
  const { text, breaches } = read(["x".repeat(21)], { type: "application/json", maxBytes: 20 });
  await assertRejects(() => text, AnswerTooLarge);
  assertEquals(breaches, []);
});

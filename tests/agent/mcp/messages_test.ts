import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { PassThrough } from "node:stream";
import {
  createFloodGuard,
  createMessageBuffer,
  createMessageFetch,
  keepTail,
} from "../../../agent/mcp/transport.ts";
import { AnswerTooLarge } from "../../../shared/http/outgoing_fetch.ts";
import { createRedactor } from "../../../shared/service/log.ts";

const encode = (text: string) => new TextEncoder().encode(text);

function open(maxBytes = 1_000) {
  const breaches: string[] = [];
  const onBreach = (reason: string) => void breaches.push(reason);
  const buffer = createMessageBuffer({ parse: JSON.parse, maxBytes, onBreach });
  return { buffer, breaches };
}

Deno.test("messages are read whole, however they are cut, and in their order", () => {
  const bytes = encode('{"a":"ü€"}\r\n[1]\n"é"\n');
  for (let size = 1; size <= bytes.length; size++) {
    const { buffer } = open();
    const read: unknown[] = [];
    for (let at = 0; at < bytes.length; at += size) {
      buffer.append(bytes.subarray(at, at + size));
      for (let message; (message = buffer.readMessage()) !== null;) read.push(message);
    }
    assertEquals(read, [{ a: "ü€" }, [1], "é"], `in pieces of ${size}`);
  }
});

Deno.test("a line that is not a message throws, and the next one is read", () => {
  const { buffer } = open();
  buffer.append(encode("Listening on stdio\n[2]\n"));
  assertThrows(() => buffer.readMessage(), SyntaxError);
  assertEquals(buffer.readMessage(), [2]);
  assertEquals(buffer.readMessage(), null);
});

Deno.test("a long message is searched once, not again with each of its pieces", () => {
  const { buffer } = open(100_000);
  let searched = 0;
  for (let count = 0; count < 100; count++) {
    const piece = encode(count === 99 ? "1\n" : "1".repeat(100));
    const indexOf = piece.indexOf.bind(piece);
    piece.indexOf = (value, from = 0) => {
      searched += piece.length - from;
      return indexOf(value, from);
    };
    buffer.append(piece);
    if (count < 99) assertEquals(buffer.readMessage(), null);
  }
  assertEquals(searched, 99 * 100 + 2);
  assertEquals(buffer.readMessage(), Number("1".repeat(9_901)));
});

Deno.test("a message over the limit is reported once, and what follows it is not read", () => {
  const { buffer, breaches } = open(10);
  buffer.append(encode("[1]\n"));
  for (let count = 0; count < 5; count++) buffer.append(encode("x".repeat(8)));
  buffer.append(encode("\n[2]\n"));
  assertEquals([buffer.readMessage(), buffer.readMessage()], [[1], null]);
  assertEquals(breaches, ["it sent a message over 10 bytes"]);
});

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

/** What is kept of these texts, which a program writes. */
async function tailOf(
  texts: string[],
  { secrets = [], ...options }: { secrets?: string[]; olderCharacters?: number } = {},
): Promise<string> {
  const stream = new PassThrough();
  const read = keepTail(stream, createRedactor(secrets), options);
  for (const text of texts) stream.write(text);
  await new Promise((resolve) => stream.end(resolve));
  return read();
}

Deno.test("no part of a secret is left at the beginning of what is kept of a program's errors", async () => {
  const plain = "sk-0123456789abcdef";
  const cases: [secret: string, line: string][] = [
    [plain, `authorization: Bearer ${plain}\n`],
    [plain, `authorization: Bearer ${plain} `],
    [plain, `authorization=${plain},`],
    [plain, plain],
    ["pass with abcdef", "password: pass with abcdef, "],
    ["-----BEGIN\n0123456789\nabcdef", "key: -----BEGIN\n0123456789\nabcdef\n"],
  ];
  for (const [secret, line] of cases) {
    for (let length = 0; length < line.length; length++) {
      const texts = [line.repeat(900), "x".repeat(length)];
      const tail = await tailOf(texts, { secrets: [secret], olderCharacters: 4_096 });
      assert(!tail.includes("def") && tail.length > 1_000, `${tail.length}: ${tail.slice(0, 40)}`);
    }
  }
});

Deno.test("a long secret of a program is not shown, wherever it is cut", async () => {
  const secret = "0123456789abcdef".repeat(1_000);
  for (const after of [0, 100, 4_000, 8_000]) {
    const texts = ["x".repeat(200_000), secret.slice(0, 9_000), secret.slice(9_000)];
    const tail = await tailOf([...texts, "y".repeat(after)], { secrets: [secret] });
    assert(
      !tail.includes("def") && tail.endsWith("y".repeat(Math.min(after, 4_096))),
      String(after),
    );
  }
});

Deno.test("a program's errors are kept whole if they are short, and a long line is not lost", async () => {
  assertEquals(await tailOf(["no such", " file\nexit 1\n"]), "no such file\nexit 1");
  assertEquals(await tailOf(["first\n", "word ".repeat(2000), "\n"]), "word ".repeat(819).trim());
  assertEquals(await tailOf([`${"x".repeat(20_000)}\n`]), "x".repeat(4095));
  assertEquals(await tailOf(["x".repeat(4100), "\nend\n"]), `${"x".repeat(4091)}\nend`);
  assertEquals(await tailOf(["x".repeat(9000), "\nend\n"]), `${"x".repeat(4091)}\nend`);
});

Deno.test("colours take nothing from what is kept of a program's errors", async () => {
  const coloured = await tailOf(["\u001b[31mred\u001b[0m ".repeat(2000)]);
  assert(/^\S{0,5} ?(red )+red$/.test(coloured) && coloured.length > 1_000, coloured.slice(0, 40));
});

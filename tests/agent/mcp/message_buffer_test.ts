import { assertEquals, assertThrows } from "@std/assert";
import { createMessageBuffer } from "../../../agent/mcp/message_buffer.ts";

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

import { assertEquals, assertRejects } from "@std/assert";
import {
  createUtf8Decoder,
  NOT_UTF8,
  NotJson,
  parseJsonAnswer,
} from "../../../shared/http/body/utf8.ts";

const LATIN = Uint8Array.from([...new TextEncoder().encode('{"a":"gr'), 0xfc, 0xdf, 0x22, 0x7d]);

const readJsonAnswer = async (response: Response) => parseJsonAnswer(await response.arrayBuffer());

Deno.test("an answer in UTF-8 is read without a mark, also if it contains U+FFFD", async () => {
  for (const value of [{ a: "grüß" }, { a: "\uFFFD" }, "🎈", null]) {
    assertEquals(await readJsonAnswer(Response.json(value)), { value });
  }
  const withMark = new Response("\uFEFF[1]");
  assertEquals(await readJsonAnswer(withMark), { value: [1] });
});

Deno.test("an answer that is not UTF-8 is read with replacement, and marked", async () => {
  assertEquals(await readJsonAnswer(new Response(LATIN)), {
    value: { a: "gr\uFFFD\uFFFD" },
    encoding: NOT_UTF8,
  });
});

Deno.test("an answer that is not JSON is a SyntaxError in any encoding", async () => {
  const error = await assertRejects(() => readJsonAnswer(new Response("<html>")), NotJson);
  assertEquals(error.text, "<html>");
  await assertRejects(() => readJsonAnswer(new Response(LATIN.slice(1))), SyntaxError);
});

function decode(bytes: Uint8Array<ArrayBuffer>, split: number) {
  let invalid = 0;
  const decoder = createUtf8Decoder(() => invalid++);
  const pieces = [bytes.slice(0, split), bytes.slice(split)];
  return { text: pieces.map(decoder.decode).join("") + decoder.end(), invalid };
}

Deno.test("a stream is decoded wherever it is split, and reported once if it is not UTF-8", () => {
  const fine = new TextEncoder().encode("a ü € 🎈 \uFFFD");
  for (let split = 0; split <= fine.length; split++) {
    assertEquals(decode(fine, split), { text: "a ü € 🎈 \uFFFD", invalid: 0 });
  }
  for (let split = 0; split <= LATIN.length; split++) {
    assertEquals(decode(LATIN, split), { text: '{"a":"gr\uFFFD\uFFFD"}', invalid: 1 });
  }
  const cut = new TextEncoder().encode("a€").slice(0, -1); // ends within a character
  assertEquals(decode(cut, 1), { text: "a\uFFFD", invalid: 1 });
});

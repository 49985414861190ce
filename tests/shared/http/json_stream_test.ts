import { assert, assertEquals } from "@std/assert";
import fc from "seeded-fast-check";
import { gatherText, jsonPieces, streamPieces } from "../../../shared/http/body/json_stream.ts";

Deno.test("the pieces of any value together are its JSON", () => {
  fc.assert(fc.property(fc.jsonValue(), fc.integer({ min: 0, max: 6 }), (value, depth) => {
    assertEquals([...jsonPieces(value, depth)].join(""), JSON.stringify(value));
  }));
});

Deno.test("what JSON leaves out of an object is left out of its pieces", () => {
  assertEquals([...jsonPieces({ a: undefined, b: 1, c: undefined }, 1)].join(""), '{"b":1}');
});

Deno.test("a large value leaves in chunks, and arrives whole", async () => {
  const value = { rows: Array.from({ length: 20_000 }, (_, index) => ({ index, text: "größe" })) };
  const response = streamPieces(jsonPieces(value, 2));
  assertEquals(response.headers.get("content-type"), "application/json");
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  for await (const chunk of response.body!) chunks.push(chunk);
  assert(chunks.every((chunk) => chunk.byteLength < 200_000), "a chunk is too large");
  assertEquals(JSON.parse(await new Blob(chunks).text()), value);
});

Deno.test("small pieces are gathered into few, and nothing is lost", () => {
  const pieces = Array.from({ length: 1000 }, (_, index) => `${index},`.repeat(60));
  const gathered = [...gatherText(pieces)];
  assert(gathered.length < 10, `${gathered.length} pieces`);
  assertEquals(gathered.join(""), pieces.join(""));
});

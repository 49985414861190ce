import { assertEquals } from "@std/assert";
import fc from "seeded-fast-check";
import { type Line, readLines } from "../../../eval/datasets/formats/lines.ts";

async function linesOf(pieces: string[]): Promise<Line[]> {
  return await Array.fromAsync(readLines(ReadableStream.from(pieces)));
}

const line = fc.constantFrom("", " ", "{}", '{"a":1}', "\r", "\u2028", "é");

Deno.test("lines are the same however their text is cut into pieces", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(line), fc.integer({ min: 1, max: 5 }), async (lines, size) => {
      const text = "\ufeff" + lines.join("\n");
      const pieces = Array.from(
        { length: Math.ceil(text.length / size) },
        (_, index) => text.slice(index * size, (index + 1) * size),
      );
      const expected = lines.map((text, index) => ({ number: index + 1, text }));
      assertEquals(await linesOf(pieces), expected.filter(({ text }) => text.trim() !== ""));
    }),
  );
});

import { assertEquals } from "@std/assert";
import fc from "seeded-fast-check";
import { diffWords } from "../../../shared/pages/text/word_diff.ts";

Deno.test("words that differ are marked, and only those", () => {
  assertEquals(diffWords("within 30 days", "within 14 days"), [
    { kind: "same", text: "within " },
    { kind: "removed", text: "30" },
    { kind: "added", text: "14" },
    { kind: "same", text: " days" },
  ]);
});

Deno.test("languages without blanks are compared by words too", () => {
  const parts = diffWords("今天天气很好", "今天天气不好");
  assertEquals(parts[0]?.kind, "same");
  assertEquals(parts[0]?.text.startsWith("今天"), true);
});

Deno.test("the parts give both texts back", () => {
  fc.assert(fc.property(fc.string({ unit: "grapheme" }), fc.string(), (before, after) => {
    const parts = diffWords(before, after);
    const without = (kind: string) =>
      parts.filter((part) => part.kind !== kind).map(({ text }) => text).join("");
    assertEquals([without("added"), without("removed")], [before, after]);
  }));
});

import { assertEquals } from "@std/assert";
import { createWordPieces } from "../../../../eval/assess/embeddings/bert/word_pieces.ts";

const VOCABULARY = ["parcel", "ship", "##ped", "cafe", "!", "订", "单"];
const FIRST = 200;
const vocabulary = [...Array.from({ length: FIRST }, (_, i) => `[${i}]`), ...VOCABULARY];
const [START, END, UNKNOWN] = ["[start]", "[end]", "[unknown]"];

function cut(text: string, longest = 256): string[] {
  const names: Record<number, string> = { 100: UNKNOWN, 101: START, 102: END };
  return createWordPieces(vocabulary, longest)(text).map((id) => names[id] ?? vocabulary[id]!);
}

const CASES: [text: string, pieces: string[], why: string][] = [
  ["", [], "nothing"],
  ["Parcel shipped!", ["parcel", "ship", "##ped", "!"], "letter case and marks"],
  ["CAFÉ cafe\u0301", ["cafe", "cafe"], "accents, composed or not"],
  ["订单parcel", ["订", "单", "parcel"], "Chinese characters are words"],
  ["par\u200bcel \u0000", ["parcel"], "what cannot be seen is not there"],
  ["shipxyz parcel", [UNKNOWN, "parcel"], "a word that cannot be cut is unknown"],
  ["x".repeat(101), [UNKNOWN], "a very long word is unknown"],
];

for (const [text, pieces, why] of CASES) {
  Deno.test(`a text in word pieces: ${why}`, () => {
    assertEquals(cut(text), [START, ...pieces, END]);
  });
}

Deno.test("a long text ends at the limit, with its end", () => {
  assertEquals(cut("parcel ".repeat(9), 5), [START, "parcel", "parcel", "parcel", END]);
});

import { assertEquals, assertNotEquals } from "@std/assert";
import { normalText } from "../../../../eval/assess/text/normal_text.ts";

const SAME: [left: string, right: string, why: string][] = [
  ["Your money is back.", "your money is back", "letter case and a full stop"],
  ["  Your  money\nis back! ", "Your money is back", "blanks and line ends"],
  ["„Ja, gern!“", "ja, gern", "quotation marks around it"],
  ["ＯＫ", "ok", "width (NFKC)"],
  ["cafe\u0301", "caf\u00e9", "composition"],
];

for (const [left, right, why] of SAME) {
  Deno.test(`texts are the same but for ${why}`, () => {
    assertEquals(normalText(left), normalText(right));
  });
}

Deno.test("punctuation inside a text, symbols and signs alone make a difference", () => {
  assertNotEquals(normalText("it costs 1.5"), normalText("it costs 15"));
  assertNotEquals(normalText("5 $"), normalText("5 €"));
  assertEquals(normalText(" ?! "), "?!");
  assertNotEquals(normalText("?"), normalText("!"));
  assertEquals(normalText(" \n"), "");
});

Deno.test("a text with a long row of punctuation is read once", () => {
  const row = ".".repeat(500_000); // reading the row again from each of its signs would take an hour
  assertEquals(normalText(`${row}A${row}b${row}`), `a${row}b`);
});

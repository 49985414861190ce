import { assertEquals } from "@std/assert";
import fc from "seeded-fast-check";
import { lcsLength } from "../../../../eval/assess/text/lcs.ts";

/** The textbook table: slow, and beyond doubt. */
function tableLcs(left: string[], right: string[]): number {
  let above = new Array<number>(right.length + 1).fill(0);
  for (const token of left) {
    const row = [0];
    right.forEach((other, j) =>
      row.push(token === other ? above[j]! + 1 : Math.max(row[j]!, above[j + 1]!))
    );
    above = row;
  }
  return above[right.length]!;
}

const texts = (alphabet: string, maxLength: number, minLength = 0) =>
  fc.array(fc.constantFrom(...alphabet), { minLength, maxLength });

Deno.test("the bit-parallel subsequence is as long as the textbook's, few distinct tokens", () => {
  fc.assert(fc.property(texts("ab", 200), texts("ab", 200), (left, right) => {
    assertEquals(lcsLength(left, right), tableLcs(left, right));
  }));
});

Deno.test("the bit-parallel subsequence is as long as the textbook's, many distinct tokens", () => {
  const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
  fc.assert(fc.property(texts(letters, 400), texts(letters, 400), (left, right) => {
    assertEquals(lcsLength(left, right), tableLcs(left, right));
  }));
});

Deno.test("the bit-parallel subsequence is as long as the textbook's, about as long as a word", () => {
  fc.assert(fc.property(texts("abcd", 36, 28), texts("abcd", 36, 28), (left, right) => {
    assertEquals(lcsLength(left, right), tableLcs(left, right));
  }));
});

Deno.test("a carry runs on through words without a match", () => {
  const right = ["a", ...new Array<string>(89).fill("x"), "a", ...new Array<string>(50).fill("y")];
  const left = ["z", "a", "q", "a", "z"];
  assertEquals(lcsLength(left, right), 2);
});

import { assertEquals } from "@std/assert";
import { matchMetadata } from "../../../eval/scores/metadata_match.ts";
import { interaction } from "../../fakes/eval_ports.ts";

const CASES: [expected: unknown, found: unknown, match: number | null, why: string][] = [
  ["Refund ", "refund", 1, "letter case and blanks do not count"],
  ["refund", "delivery", 0, "another label is wrong"],
  ["refund", undefined, null, "an annotator that cannot tell is not wrong"],
  ["positive", "unknown", null, "nor is one that says so"],
  ["unknown", "unknown", 1, "unless that is what was expected"],
  [3, "3.0", 1, "numbers are compared by their value"],
  ["1e2", 100, 1, "however they are written"],
  [3, 4, 0, "and differ by it"],
  [true, true, 1, "truth values are values"],
  ["", "", 1, "and so is nothing"],
];

for (const [expected, found, match, why] of CASES) {
  Deno.test(`<key>_match: ${why}`, () => {
    const turn = interaction("i", { reference_metadata: { key: expected } });
    const generatedMetadata = found === undefined ? {} : { key: found };
    const scores = matchMetadata(turn, { reply: "text", generatedMetadata });
    assertEquals(scores, { key_match: match, metadata_match: match });
  });
}

Deno.test("metadata_match is the mean of the keys that could be told", () => {
  const turn = interaction("i", { reference_metadata: { a: "x", b: "y", c: "z" } });
  const scores = matchMetadata(turn, { reply: "text", generatedMetadata: { a: "x", b: "?" } });
  assertEquals(scores, { a_match: 1, b_match: 0, c_match: null, metadata_match: 0.5 });
});

Deno.test("a key with the name of a built-in property is open where no annotator could tell", () => {
  for (const key of ["constructor", "__proto__"]) {
    const reference_metadata = Object.fromEntries([[key, "x"]]);
    const turn = interaction("i", { reference_metadata });
    const scores = matchMetadata(turn, { reply: "text", generatedMetadata: {} });
    assertEquals(scores, { [`${key}_match`]: null, metadata_match: null });
  }
});

Deno.test("a key called metadata enters the mean and does not replace it", () => {
  const turn = interaction("i", { reference_metadata: { metadata: "x", a: "y" } });
  const scores = matchMetadata(turn, {
    reply: "text",
    generatedMetadata: { metadata: "x", a: "?" },
  });
  assertEquals(scores, { a_match: 0, metadata_match: 0.5 });
});

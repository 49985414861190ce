import { assertEquals, assertGreater, assertLessOrEqual } from "@std/assert";
import { pairScorers } from "../../../eval/scores/mod.ts";
import { replayVectors } from "../../../eval/scores/self_test.ts";
import { tokenF1 } from "../../../eval/scores/token_f1.ts";

/** Of 52 pairs; what is left out is named in the module, so a new exception shows here. */
const COMPARED = {
  exact_match: 52,
  token_f1: 49,
  rouge_1: 33,
  rouge_2: 33,
  rouge_l: 33,
  bleu: 51,
  chrf: 51,
  edit_similarity: 52,
};

Deno.test("every score of the table has vectors", () => {
  assertEquals(pairScorers.map(({ name }) => name), Object.keys(COMPARED));
});

for (const { name, compare } of pairScorers) {
  Deno.test(`${name} equals its reference implementation on the vectors`, () => {
    const replay = replayVectors({ [name]: compare })[name]!;
    assertLessOrEqual(replay.largest_deviation, 1e-9);
    assertEquals(replay.compared, COMPARED[name as keyof typeof COMPARED]);
  });
}

Deno.test("a score that is wrong on one pair is found out", () => {
  const wrong = (reply: string, reference: string) =>
    reply === "42" && reference === "42" ? 0.999 : tokenF1(reply, reference);
  assertGreater(replayVectors({ token_f1: wrong }).token_f1!.largest_deviation, 9e-4);
});

Deno.test("a score that the vectors do not know, or that is null, deviates", () => {
  assertEquals(replayVectors({ unknown: () => 1 }).unknown!.largest_deviation, 1);
  assertEquals(replayVectors({ token_f1: () => null }).token_f1!.largest_deviation, Infinity);
});

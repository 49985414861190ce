import { assertEquals, assertGreater, assertLessOrEqual } from "@std/assert";
import { bleu } from "../../../../eval/assess/scores/lexical/bleu.ts";
import { exactMatch } from "../../../../eval/assess/scores/lexical/exact_match.ts";
import { pairScorers } from "../../../../eval/assess/scores/pair_scorers.ts";
import { replayVectors, runSelfTest } from "../../../../eval/assess/scores/self_test.ts";
import type { PairScore } from "../../../../eval/assess/scores/score.ts";
import { tokenF1 } from "../../../../eval/assess/scores/lexical/token_f1.ts";

/** Of 152 pairs; what is left out is named in the module, so a new exception shows here. */
const COMPARED = {
  exact_match: 152,
  token_f1: 124,
  rouge_1: 59,
  rouge_2: 59,
  rouge_l: 59,
  bleu: 148,
  chrf: 148,
  edit_similarity: 152,
};

Deno.test("every score of the table has vectors", () => {
  assertEquals(pairScorers.map(({ name }) => name), Object.keys(COMPARED));
});

for (const { name, compare } of pairScorers) {
  Deno.test(`${name} equals its reference implementation on the vectors`, () => {
    const replay = replayVectors({ [name]: compare })[name]!;
    assertLessOrEqual(replay.largest_deviation!, 1e-9);
    assertEquals(replay.compared, COMPARED[name as keyof typeof COMPARED]);
  });
}

Deno.test("a score that is wrong on one pair is detected", () => {
  const wrong = (reply: string, reference: string) =>
    reply === "42" && reference === "42" ? 0.999 : tokenF1(reply, reference);
  assertGreater(replayVectors({ token_f1: wrong }).token_f1!.largest_deviation!, 9e-4);
});

Deno.test("a score without reference values is reported as such and fails nothing", () => {
  const result = runSelfTest([...pairScorers, { name: "unknown", compare: () => 1 }]);
  assertEquals(result.scores.unknown, {
    compared: 0,
    left_out: 0,
    largest_deviation: null,
    note: "no reference",
  });
  assertEquals([result.passed, runSelfTest([]).passed], [true, true]);
});

Deno.test("a score that is null deviates", () => {
  assertEquals(replayVectors({ token_f1: () => null }).token_f1!.largest_deviation, Infinity);
});

Deno.test("what is left out is listed with its reason and its pairs", () => {
  const { left_out, passed } = runSelfTest(pairScorers);
  assertEquals(passed, true);
  for (const { pairs, reason } of left_out) assertGreater(pairs.length, 0, reason);
  const isTold = (score: string, reply: string, reference: string) =>
    left_out.some(({ scores, pairs }) =>
      scores.includes(score) &&
      pairs.some((pair) => pair.reply === reply && pair.reference === reference)
    );
  assertEquals(isTold("rouge_1", "?!", "?!"), true);
  assertEquals(isTold("token_f1", "the", "the"), true);
  assertEquals(isTold("token_f1", "你好。", "你好"), true);
  assertEquals(isTold("bleu", " ", "\n"), true);
  assertEquals(isTold("exact_match", "你好。", "你好"), false);
});

/** Texts that look alike, and what SQuAD and sacreBLEU say of them. */
const LOOKALIKES: [score: PairScore, reply: string, reference: string, value: number][] = [
  [exactMatch, "你好。", "你好", 0],
  [exactMatch, "", " ", 1],
  [exactMatch, "col·lecció", "col lecció", 0],
  [tokenF1, "col·lecció", "col lecció", 0],
  [bleu, "hello\ufeff", "hello", 0],
  [bleu, "hello\x1f", "hello", 1],
];

for (const [score, reply, reference, value] of LOOKALIKES) {
  Deno.test(`${score.name} of ${JSON.stringify([reply, reference])} is ${value}`, () => {
    assertEquals(score(reply, reference), value);
  });
}

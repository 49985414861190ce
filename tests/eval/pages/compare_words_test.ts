import { assert, assertEquals } from "@std/assert";
import type { StoredComparison } from "../../../eval/compare/compare_stored.ts";
import { describeVerdict } from "../../../eval/pages/compare/compare_words.ts";
import { overallText } from "../../../eval/pages/words.ts";

/** An inconclusive comparison of eight scenarios. */
function comparison(planned: number): StoredComparison {
  const overall = {
    difference: 0.1,
    reason: "the reason",
    scenarios: 8,
    verdict: "inconclusive",
    planning: { scenarios: planned, power: 0.8, alpha: 0.05 },
  };
  return { verdict: "inconclusive", scores: { overall } } as unknown as StoredComparison;
}

Deno.test("a comparison asks for more scenarios only if there are fewer: failed calls need none", () => {
  const { why } = describeVerdict(comparison(9));
  assert(why.includes("about 9 scenarios would be needed"), why);
  assertEquals(describeVerdict(comparison(7)).why, "The reason.");
});

Deno.test("a verdict by one score does not pass for one by overall", () => {
  const score = (difference: number, verdict: string) => ({
    difference,
    verdict,
    ci95: null,
    p_adjusted: 0.01,
    scenarios: 20,
  });
  const sentence = (scores: Record<string, unknown>, verdict: string) =>
    describeVerdict({ verdict, scores } as unknown as StoredComparison).sentence;
  const bleu = score(0.2, "improved");
  assertEquals(
    sentence({ overall: score(0.035, "inconclusive"), bleu }, "improved"),
    "The candidate is better by phrases in common (BLEU) +0.200; overall +0.035 is inconclusive.",
  );
  assertEquals(
    sentence({ overall: score(0.05, "improved"), chrf: score(-0.1, "regressed") }, "regressed"),
    "The candidate is worse by letters in common (chrF) −0.100; overall +0.050 is better.",
  );
  const alone = "The candidate is better: phrases in common (BLEU) +0.200.";
  assertEquals(sentence({ bleu }, "improved"), alone);
});

Deno.test("a turn below the threshold never reads as if it reached it", () => {
  const show = (overall: number | null, pass_threshold = 0.7) =>
    overallText({ scores: { overall }, pass_threshold });
  assertEquals([0.698, 0.7, 0.641, null].map((value) => show(value)), [
    "0.69",
    "0.70",
    "0.64",
    "–",
  ]);
});

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

import { assertEquals } from "@std/assert";
import type { StoredComparison } from "../../../eval/compare/compare_stored.ts";
import { describeVerdict } from "../../../eval/pages/compare/compare_words.ts";
import { overallText } from "../../../eval/pages/words.ts";

const comparison = (fields: Record<string, unknown>) =>
  ({ decided_by: "overall", reason: null, ...fields }) as unknown as StoredComparison;
const overall = { difference: 0.1, ci95: [-0.2, 0.4], p: 0.25, scenarios: 8 };

Deno.test("the sentence is about the deciding score, and the reason stands beneath it", () => {
  const open = comparison({ verdict: "inconclusive", reason: "too few", scores: { overall } });
  assertEquals(describeVerdict(open), {
    sentence: "It is not known whether the candidate is better: overall +0.100.",
    why: "Too few. 95% interval −0.200 to +0.400, p 0.2500, over 8 scenarios that both runs have.",
  });
  const bleu = { ...overall, difference: -0.3, ci95: [-0.5, -0.1], p: 0.01 };
  const worse = comparison({ verdict: "regressed", decided_by: "bleu", scores: { bleu, overall } });
  assertEquals(
    describeVerdict(worse).sentence,
    "The candidate is worse: phrases in common (BLEU) −0.300.",
  );
});

Deno.test("a difference that is not known is shown by its bounds", () => {
  const scores = { overall: { ...overall, difference: null, bounds: { difference: [-0.1, 0.3] } } };
  const open = comparison({ verdict: "inconclusive", reason: "values are missing", scores });
  assertEquals(
    describeVerdict(open).sentence,
    "It is not known whether the candidate is better: overall −0.100 to +0.300.",
  );
});

Deno.test("runs without the deciding score cannot be compared, and the reason is shown", () => {
  const reason = "overall cannot be compared: neither run has it";
  const { sentence, why } = describeVerdict(
    comparison({ verdict: "inconclusive", reason, scores: {} }),
  );
  assertEquals([sentence, why], [
    "These runs cannot be compared.",
    "Overall cannot be compared: neither run has it.",
  ]);
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

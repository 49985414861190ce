import { formatNumberOf } from "../../../shared/pages/format.ts";
import type { Comparison } from "../../figures/compare_stored.ts";
import { formatP } from "../../test/rounding.ts";
import { asSentence, comparedText, differenceText, scoreLabel } from "../words.ts";

/** The score that is shown first: the one that decides, if it was compared. */
export function decidingScore({ decided_by, pairs }: Comparison): string | undefined {
  const { scores } = pairs![0]!;
  return decided_by in scores ? decided_by : Object.keys(scores)[0];
}

/** The answer in one sentence, and beneath it why. */
export function describeVerdict(comparison: Comparison): { sentence: string; why: string } {
  const { decided_by } = comparison;
  const { verdict, scores, reason } = comparison.pairs![0]!;
  const score = scores[decided_by];
  if (!score) {
    return { sentence: "These runs cannot be compared.", why: asSentence(reason ?? "") };
  }
  const by = `${scoreLabel(decided_by)} ${comparedText(score, 3)}`;
  const interval = score.ci95
    ? `95% interval ${differenceText(score.ci95[0], 3)} to ${differenceText(score.ci95[1], 3)}, `
    : "";
  const found = `${interval}p ${formatP(score.p ?? 1)}, over ${
    formatNumberOf(score.scenarios, "scenario")
  } that both runs have.`;
  if (verdict === "inconclusive") {
    return {
      sentence: `It is not known whether the candidate is better: ${by}.`,
      why: `${asSentence(reason ?? "")} ${found}`,
    };
  }
  if (verdict === "equal_enough") {
    const limit = comparison.min_difference ?? 0;
    return {
      sentence: `The candidate is equal enough: ${by}.`,
      why: `It is not worse by ${limit}, the smallest difference that matters. ${found}`,
    };
  }
  const word = verdict === "improved" ? "better" : "worse";
  return { sentence: `The candidate is ${word}: ${by}.`, why: found };
}

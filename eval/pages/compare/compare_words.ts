import { formatNumberOf, formatScore } from "../../../shared/pages/format.ts";
import { formatP } from "../../../shared/rounding.ts";
import type { ScoreComparison, Verdict } from "../../compare/comparison.ts";
import type { StoredComparison } from "../../compare/compare_stored.ts";
import { asSentence, differenceText, scoreLabel } from "../words.ts";

/** Beyond this the number says only that the difference is next to nothing. */
const MOST_SCENARIOS = 10_000;

/** The score that a verdict is about: the one that decided it, `overall` if nothing did. */
export function decidingScore({ verdict, scores }: StoredComparison): string | undefined {
  const names = Object.keys(scores);
  const deciding = names.filter((name) => scores[name]!.verdict === verdict);
  return deciding.includes("overall") ? "overall" : deciding[0] ?? names[0];
}

/** The answer in one sentence, and beneath it why. */
export function describeVerdict(comparison: StoredComparison): { sentence: string; why: string } {
  const { verdict, scores } = comparison;
  const name = decidingScore(comparison);
  if (name === undefined) {
    return {
      sentence: "These runs cannot be compared.",
      why: "They share no scenario with a score that both have.",
    };
  }
  const score = scores[name]!;
  const by = `${scoreLabel(name)} ${differenceText(score.difference, 3)}`;
  if (verdict === "inconclusive") {
    return {
      sentence: `It is not known whether the candidate is better: ${by}.`,
      why: [asSentence(score.reason ?? ""), describeNeed(score)].filter(Boolean).join(" "),
    };
  }
  const word = verdict === "improved" ? "better" : "worse";
  const interval = score.ci95
    ? `95% interval ${differenceText(score.ci95[0], 3)} to ${differenceText(score.ci95[1], 3)}, `
    : "";
  const overall = name === "overall" ? undefined : scores.overall;
  return {
    sentence: overall
      ? `The candidate is ${word} by ${by}; ${describeOverall(overall)}.`
      : `The candidate is ${word}: ${by}.`,
    why: `${interval}adjusted p ${formatP(score.p_adjusted)}, over ${
      formatNumberOf(score.scenarios, "scenario")
    } that both runs have.`,
  };
}

const OVERALL_WORDS: Record<Verdict, string> = {
  improved: "is better",
  regressed: "is worse",
  inconclusive: "is inconclusive",
};

/** What the headline says if another score decided. */
function describeOverall({ difference, verdict }: ScoreComparison): string {
  return `overall ${differenceText(difference, 3)} ${OVERALL_WORDS[verdict]}`;
}

/** More scenarios than there are that would show the difference; fewer mean that something else is in the way. */
export function scenariosMissing({ planning, scenarios }: ScoreComparison): number | undefined {
  const needed = planning?.scenarios ?? 0;
  return needed > scenarios ? needed : undefined;
}

/** How many scenarios would be needed to know, if the difference is as large as it seems. */
function describeNeed(score: ScoreComparison): string {
  const needed = scenariosMissing(score);
  if (needed === undefined) return "";
  if (needed > MOST_SCENARIOS) {
    return "A difference as small as this one would need more than 10,000 scenarios to be seen.";
  }
  return `If the difference is as large as it seems, about ${
    formatNumberOf(needed, "scenario")
  } would be needed to know with a chance of ${formatScore(score.planning!.power * 100, 0)}%.`;
}

import { z } from "zod";
import { mean } from "../../score/mean.ts";
import { OVERALL_PARTS } from "../../score/score.ts";
import type { InteractionResult } from "../../test/interaction_result.ts";
import { ROUNDING } from "../../test/rounding.ts";
import { HEADLINE } from "../passing.ts";
import type { ResultPart } from "../scenario_results.ts";

/**
 * Shares of the variance of one conversation's `overall`; they add up to 1. What the run does not
 * show is `null` and part of the share before it: without a second vote the judge's in `attempts`,
 * without a second attempt the model's in `scenarios`.
 */
export const Spread = z.object({
  scenarios: z.number(),
  attempts: z.number().nullable(),
  judge: z.number().nullable(),
}).meta({ id: "Spread" });
type Spread = z.infer<typeof Spread>;

/** An attempt: its mean, and the part of the variance of one vote in it. */
interface Conversation {
  value: number;
  /** Σ w² / k / T², with k votes of weight w on a turn, over T turns; 0 without votes. */
  load: number;
  /** With one vote per turn. */
  loadOfOne: number;
}

/** The judge's grades are from 0 to 10. */
const HIGHEST_GRADE = 10;

/**
 * The method of moments for nested data, balanced or not: the expected value of each sum of squares
 * is a sum of components, which are solved from the votes upwards. Scenarios have equal weight, as
 * in the means of a run. Only sums are kept. An attempt with a missing score is left out.
 */
export function createSpread() {
  /** Welford's algorithm, and sums over scenarios of what attempts and votes add to their means. */
  const scenarios = { count: 0, mean: 0, squares: 0, ofAttempt: 0, ofVote: 0, loadOfOne: 0 };
  const attempts = { squares: 0, ofVote: 0, degrees: 0 };
  const votes = { squares: 0, degrees: 0 };
  let conversations: Conversation[] = [];
  let [load, loadOfOne] = [0, 0];

  /** Nobody voted on a failed call, which counts 0. */
  function addVotes({ judge, scores, error }: InteractionResult): void {
    if (error || !judge || judge.votes.length === 0) return;
    const grades = judge.votes.map(({ grade }) => grade / HIGHEST_GRADE);
    const average = mean(grades)!;
    votes.squares += grades.reduce((sum, grade) => sum + (grade - average) ** 2, 0);
    votes.degrees += grades.length - 1;
    if (typeof scores.judge !== "number") return;
    const weight = 1 / OVERALL_PARTS.filter((part) => typeof scores[part] === "number").length;
    load += weight ** 2 / grades.length;
    loadOfOne += weight ** 2;
  }

  function endScenario(): void {
    const size = conversations.length;
    if (size === 0) return;
    const sumOf = (of: (one: Conversation) => number) =>
      conversations.reduce((sum, one) => sum + of(one), 0);
    const average = sumOf(({ value }) => value) / size;
    const loads = sumOf(({ load }) => load);
    attempts.squares += sumOf(({ value }) => (value - average) ** 2);
    attempts.ofVote += (1 - 1 / size) * loads;
    attempts.degrees += size - 1;
    const deviation = average - scenarios.mean;
    scenarios.mean += deviation / ++scenarios.count;
    scenarios.squares += deviation * (average - scenarios.mean);
    scenarios.ofAttempt += 1 / size;
    scenarios.ofVote += loads / size ** 2;
    scenarios.loadOfOne += sumOf(({ loadOfOne }) => loadOfOne) / size;
    conversations = [];
  }

  return {
    add(part: ResultPart): void {
      if (part.kind === "attempt") {
        [load, loadOfOne] = [0, 0];
      } else if (part.kind === "turn") {
        addVotes(part.result);
      } else if (part.kind === "attempt end") {
        const { mean: value = null, turns = 0, missing } = part.summary.statistics[HEADLINE] ?? {};
        if (value === null || missing !== 0) return;
        conversations.push({ value, load: load / turns ** 2, loadOfOne: loadOfOne / turns ** 2 });
      } else if (part.kind === "scenario end") endScenario();
    },
    /** `undefined` if the run shows only how scenarios differ, or nothing differs. */
    report(): Spread | undefined {
      const { count } = scenarios;
      if (count < 2 || attempts.degrees + votes.degrees === 0) return undefined;
      const vote = votes.degrees === 0 ? null : votes.squares / votes.degrees;
      const attempt = attempts.degrees === 0
        ? null
        : (attempts.squares - (vote ?? 0) * attempts.ofVote) / attempts.degrees;
      const ofMeans = (attempt ?? 0) * scenarios.ofAttempt + (vote ?? 0) * scenarios.ofVote;
      // Estimates are unbiased, and below 0 if the true value is near 0.
      const parts = {
        scenarios: Math.max(0, scenarios.squares / (count - 1) - ofMeans / count),
        attempts: attempt === null ? null : Math.max(0, attempt),
        judge: vote === null ? null : vote * scenarios.loadOfOne / count,
      };
      const whole = parts.scenarios + (parts.attempts ?? 0) + (parts.judge ?? 0);
      if (whole <= ROUNDING ** 2) return undefined;
      const share = (part: number | null) => part === null ? null : part / whole;
      return {
        scenarios: parts.scenarios / whole,
        attempts: share(parts.attempts),
        judge: share(parts.judge),
      };
    },
  };
}

import { mean, sampleVariance } from "../../score/mean.ts";
import { ROUNDING } from "../../test/rounding.ts";

/** One conversation: an attempt at a scenario. */
export interface Conversation {
  /** Its score: the mean over its turns. */
  value: number;
  /**
   * The part of the variance of one vote in the value: Σ w² / k / T², with k votes of weight w on a
   * turn, over T turns. 0 without votes.
   */
  voteLoad: number;
  /** The same with one vote per turn. */
  voteLoadOfOne: number;
}

/** The spread of the judge's votes on the same reply, pooled over a run. */
export interface VoteSpread {
  /** Squared deviations from the mean of their turn. */
  squares: number;
  /** Votes beyond the first of each turn. */
  degrees: number;
}

/** Unbiased estimates, which may be negative; `null` if the run does not allow one. */
export interface VarianceComponents {
  /** Between scenarios. Includes `attempt` if no scenario has a second attempt. */
  scenario: number;
  /** Between attempts at one scenario. Includes `vote` if no turn has a second vote. */
  attempt: number | null;
  /** Between single votes on the same reply. */
  vote: number | null;
}

/**
 * The method of moments for nested data, balanced or not: the expected value of each sum of squares
 * is a sum of components, which are solved from the votes upwards. Scenarios have equal weight, as
 * in the means of a run. Needs two scenarios.
 */
export function varianceComponents(
  scenarios: Conversation[][],
  votes: VoteSpread,
): VarianceComponents {
  const vote = votes.degrees === 0 ? null : remainder(votes.squares / votes.degrees);
  const attempt = attemptVariance(scenarios, vote ?? 0);
  const scenario = remainder(
    sampleVariance(scenarios.map(scenarioMean))!,
    mean(scenarios.map((own) => noiseOfMean(own, { attempt: attempt ?? 0, vote: vote ?? 0 })))!,
  );
  return { scenario, attempt, vote };
}

/** `null` if no scenario has two attempts. */
function attemptVariance(scenarios: Conversation[][], vote: number): number | null {
  let squares = 0;
  let ofVotes = 0;
  let degrees = 0;
  for (const own of scenarios) {
    const average = scenarioMean(own);
    for (const { value, voteLoad } of own) {
      squares += (value - average) ** 2;
      ofVotes += (1 - 1 / own.length) * voteLoad * vote;
    }
    degrees += own.length - 1;
  }
  return degrees === 0 ? null : remainder(squares / degrees, ofVotes / degrees);
}

/** A variance minus a part of it; 0 if the rest is only rounding. */
function remainder(variance: number, part = 0): number {
  const left = variance - part;
  return Math.abs(left) <= Math.max(ROUNDING ** 2, ROUNDING * Math.abs(part)) ? 0 : left;
}

/** The variance of a scenario's mean due to attempts and votes. */
export function noiseOfMean(
  own: Conversation[],
  { attempt, vote }: { attempt: number; vote: number },
): number {
  const load = own.reduce((sum, { voteLoad }) => sum + voteLoad, 0);
  return attempt / own.length + vote * load / own.length ** 2;
}

export function scenarioMean(own: Conversation[]): number {
  return mean(own.map(({ value }) => value))!;
}

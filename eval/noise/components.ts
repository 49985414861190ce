import { mean, sampleVariance } from "../assess/mean.ts";
import { ROUNDING } from "../schemas/rounding.ts";

/** One conversation: an attempt at a scenario. */
export interface Conversation {
  /** Its score: the mean over its turns. */
  value: number;
  /**
   * How much of the variance of one vote is in the value: Σ w² / k / T², with k votes on a turn
   * that count with the weight w, over T turns. 0 if nothing in the value was voted on.
   */
  voteLoad: number;
  /** The same with one vote on each turn. */
  voteLoadOfOne: number;
}

/** The spread of the judge's votes on the same reply, pooled over a run. */
export interface VoteSpread {
  /** Squared deviations from the mean of their turn. */
  squares: number;
  /** Votes beyond the first of each turn. */
  degrees: number;
}

/** Unbiased estimates, so that they may be negative; `null` if the design does not show it. */
export interface VarianceComponents {
  /** How far scenarios lie apart. Without a second attempt anywhere, it includes `attempt`. */
  scenario: number;
  /** How far attempts at one scenario lie apart. Without a second vote, it includes `vote`. */
  attempt: number | null;
  /** How far single votes on the same reply lie apart. */
  vote: number | null;
}

/**
 * The method of moments for nested data, balanced or not: the expected value of each sum of squares
 * is a sum of components, and is solved for them from the votes upwards. Scenarios count alike, as
 * in the headline. Needs two scenarios.
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

/** A variance without a part of it; 0 if what is left is no more than rounding leaves. */
function remainder(variance: number, part = 0): number {
  const left = variance - part;
  return Math.abs(left) <= Math.max(ROUNDING ** 2, ROUNDING * Math.abs(part)) ? 0 : left;
}

/** The variance of a scenario's mean that attempts and votes bring in. */
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

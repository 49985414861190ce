import type { InteractionResult, Scores, Statistic } from "../shared/schemas/evaluate.ts";
import { studentT95 } from "./student_t.ts";

/** A turn's scores, as an average sees them. */
export interface ScoredTurn {
  scores: Scores;
  /** A failed turn counts 0 in the mean and is left out of the mean of those answered. */
  failed: boolean;
  /** Turns of one cluster are not independent of one another; see `describe`. */
  cluster: number;
}

/** `cluster` says with which other turns its result goes together. */
export function toScoredTurn({ scores, error }: InteractionResult, cluster: number): ScoredTurn {
  return { scores, failed: error !== undefined, cluster };
}

/** The mean of some numbers; `null` of none. */
export function mean(values: number[]): number | null {
  if (values.length === 0) return null;
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/**
 * The mean and the spread of each score over the turns that have one. A score that applies nowhere
 * is `null`; names keep the order in which they were first met.
 */
export function aggregateScores(
  turns: ScoredTurn[],
): { average_scores: Scores; statistics: Record<string, Statistic> } {
  const names = new Set(turns.flatMap(({ scores }) => Object.keys(scores)));
  const average_scores: Scores = {};
  const statistics: Record<string, Statistic> = {};
  for (const name of names) {
    const observations: Observation[] = [];
    for (const { scores, failed, cluster } of turns) {
      const value = scores[name];
      if (typeof value === "number") observations.push({ value, failed, cluster });
    }
    const statistic = describe(observations);
    statistics[name] = statistic;
    average_scores[name] = statistic.mean;
  }
  return { average_scores, statistics };
}

interface Observation {
  value: number;
  failed: boolean;
  cluster: number;
}

function describe(observations: Observation[]): Statistic {
  const values = observations.map(({ value }) => value);
  const answered = observations.filter(({ failed }) => !failed).map(({ value }) => value);
  const average = mean(values);
  const { stderr, clusters } = clusteredError(observations, average ?? 0);
  const margin = stderr === null ? null : stderr * studentT95(clusters - 1);
  return {
    n: values.length,
    failed: values.length - answered.length,
    mean: average,
    mean_of_answered: mean(answered),
    stdev: deviation(values, average ?? 0),
    stderr,
    ci95: margin === null || average === null ? null : [average - margin, average + margin],
    min: extreme(values, Math.min),
    max: extreme(values, Math.max),
  };
}

/** The sample's standard deviation, with n − 1; `null` for fewer than two values. */
function deviation(values: number[], average: number): number | null {
  if (values.length < 2) return null;
  const squares = values.reduce((sum, value) => sum + (value - average) ** 2, 0);
  return Math.sqrt(squares / (values.length - 1));
}

/**
 * The standard error of a mean whose observations come in clusters: the residuals of a cluster are
 * summed before they are squared, so that turns which fail together do not count as so many proofs.
 * With one observation a cluster this is the ordinary s/√n. `null` for fewer than two clusters.
 */
function clusteredError(observations: Observation[], average: number) {
  const residuals = new Map<number, number>();
  for (const { value, cluster } of observations) {
    residuals.set(cluster, (residuals.get(cluster) ?? 0) + value - average);
  }
  const clusters = residuals.size;
  if (clusters < 2) return { stderr: null, clusters };
  let squares = 0;
  for (const residual of residuals.values()) squares += residual ** 2;
  const stderr = Math.sqrt(clusters / (clusters - 1) * squares) / observations.length;
  return { stderr, clusters };
}

/** Not `Math.min(...values)`: a long run has more values than a call takes arguments. */
function extreme(values: number[], pick: (a: number, b: number) => number): number | null {
  return values.length === 0 ? null : values.reduce((best, value) => pick(best, value));
}

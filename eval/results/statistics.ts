import type { InteractionResult } from "../../shared/schemas/interaction_result.ts";
import type { Scores, Statistic } from "../../shared/schemas/statistics.ts";
import { type ClusteredMean, meanInterval } from "./mean_interval.ts";
import { finish, type Steps } from "./steps.ts";
import { ROUNDING } from "../../shared/rounding.ts";

/** A turn's scores, as an average sees them. */
export interface ScoredTurn {
  scores: Scores;
  /** A failed turn counts 0 in the mean and is left out of the mean of those answered. */
  failed: boolean;
  /** Turns of one cluster are not independent of one another; see `spread`. */
  cluster: number;
  /** Scores that the turn should have and lacks, each with the span in which it lies. */
  missing?: Record<string, Span>;
}

type Span = readonly [low: number, high: number];
const ANYWHERE: Span = [0, 1];

/** `cluster` says with which other turns its result goes together. */
export function toScoredTurn(
  result: Pick<InteractionResult, "scores" | "error" | "missing_scores" | "overall_bounds">,
  cluster: number,
): ScoredTurn {
  const { scores, error, missing_scores, overall_bounds } = result;
  const turn: ScoredTurn = { scores, failed: error !== undefined, cluster };
  if (!missing_scores) return turn;
  const missing: Record<string, Span> = {};
  for (const name in missing_scores) {
    missing[name] = name === "overall" ? overall_bounds ?? ANYWHERE : ANYWHERE;
  }
  return { ...turn, missing };
}

/**
 * The mean and the spread of each score over the turns that have one. A score that applies nowhere
 * is `null`; names keep the order in which they were first met. Turns of a cluster stand together.
 */
export function aggregateScores(turns: ScoredTurn[]): AggregatedScores {
  return finish(aggregateInSteps(turns));
}

/** The same in steps of some milliseconds each: a scenario may have a hundred thousand turns. */
export function* aggregateInSteps(turns: ScoredTurn[]): Steps<AggregatedScores> {
  const average_scores: Scores = {};
  const statistics: Record<string, Statistic> = {};
  for (const name of yield* scoreNames(turns)) {
    const statistic = describeScore(name, turns);
    average_scores[name] = statistic.mean;
    statistics[name] = statistic;
    yield;
  }
  return { average_scores, statistics };
}

/** A scenario's own statistics, by score. */
export type ScenarioScores = Record<string, Statistic>;

/**
 * The mean and the spread over scenarios, which count alike: `n` are scenarios; `turns`, `failed`
 * and `missing` are numbers of their turns.
 */
export function aggregateScenarios(scenarios: ScenarioScores[]): AggregatedScores {
  const aggregate = createScenarioAggregate();
  for (const statistics of scenarios) aggregate.add(statistics);
  return finish(aggregate.close());
}

/** One score over scenarios: of each only what the spread needs, since there may be many. */
interface ScenarioColumn {
  means: number[];
  answered: { sum: number; count: number };
  turns: number;
  failed: number;
  missing: number;
  /** Also counts scenarios that have nothing but missing turns. */
  bounds: SpanSum;
  /** The same with the failed turns at 0 and at 1. */
  errorBounds: SpanSum;
}

interface SpanSum {
  low: number;
  high: number;
  count: number;
}

function addSpan(sum: SpanSum, [low, high]: readonly [number | null, number | null]): void {
  if (low === null || high === null) return;
  sum.low += low;
  sum.high += high;
  sum.count++;
}

function meanSpan({ low, high, count }: SpanSum): [number, number] {
  return [low / count, high / count];
}

/** The same for scenarios that come one after another. */
export function createScenarioAggregate() {
  const columns = new Map<string, ScenarioColumn>();

  function columnOf(name: string): ScenarioColumn {
    let column = columns.get(name);
    if (!column) {
      column = {
        means: [],
        answered: { sum: 0, count: 0 },
        turns: 0,
        failed: 0,
        missing: 0,
        bounds: { low: 0, high: 0, count: 0 },
        errorBounds: { low: 0, high: 0, count: 0 },
      };
      columns.set(name, column);
    }
    return column;
  }

  return {
    add(statistics: ScenarioScores): void {
      for (const name in statistics) {
        const { mean, mean_of_answered, turns, failed, missing, bounds, error_bounds } =
          statistics[name]!;
        const column = columnOf(name);
        column.turns += turns;
        column.failed += failed;
        column.missing += missing;
        if (mean !== null) column.means.push(mean);
        if (mean_of_answered !== null) {
          column.answered.sum += mean_of_answered;
          column.answered.count++;
        }
        const span = bounds ?? [mean, mean] as const;
        addSpan(column.bounds, span);
        addSpan(column.errorBounds, error_bounds ?? span);
      }
    },
    *close(): Steps<AggregatedScores> {
      const average_scores: Scores = {};
      const statistics: Record<string, Statistic> = {};
      for (const [name, column] of columns) {
        const { means, answered, turns, failed, missing } = column;
        const observed = means.map((mean, cluster): ScoredTurn => ({
          scores: { [name]: mean },
          failed: false,
          cluster,
        }));
        const statistic = describeScore(name, observed);
        average_scores[name] = statistic.mean;
        statistics[name] = {
          ...statistic,
          turns,
          failed,
          missing,
          bounds: missing === 0 ? null : meanSpan(column.bounds),
          mean_of_answered: answered.count === 0 ? null : answered.sum / answered.count,
          ...(failed > 0 && { error_bounds: meanSpan(column.errorBounds) }),
        };
        yield;
      }
      return { average_scores, statistics };
    },
  };
}

export interface AggregatedScores {
  average_scores: Scores;
  statistics: Record<string, Statistic>;
}

/** Turns looked at in one step: about a millisecond. */
const STEP = 1_000;

function* scoreNames(turns: ScoredTurn[]): Steps<Set<string>> {
  const names = new Set<string>();
  for (const [index, { scores }] of turns.entries()) {
    for (const name in scores) names.add(name);
    if (index % STEP === STEP - 1) yield;
  }
  return names;
}

/** Two passes over the turns and nothing kept: a long run describes ten thousand of them. */
function describeScore(name: string, turns: ScoredTurn[]): Statistic {
  let n = 0;
  let missing = 0;
  let lowest = 0;
  let highest = 0;
  let answered = 0;
  let sum = 0;
  let answeredSum = 0;
  let min = Infinity;
  let max = -Infinity;
  for (const { scores, failed, missing: lacking } of turns) {
    const value = scores[name];
    if (typeof value !== "number") {
      const span = lacking?.[name];
      if (!span) continue;
      missing++;
      lowest += span[0];
      highest += span[1];
      continue;
    }
    n++;
    sum += value;
    if (value < min) min = value;
    if (value > max) max = value;
    if (failed) continue;
    answered++;
    answeredSum += value;
  }
  const all = n + missing;
  const bounds: [number, number] | null = missing === 0
    ? null
    : [(sum + lowest) / all, (sum + highest) / all];
  if (n === 0) return { ...NOTHING, missing, bounds };
  const average = sum / n;
  const failed = n - answered;
  const { stdev, clustered } = spread(name, turns, { n, average });
  return {
    n,
    turns: n,
    failed,
    missing,
    bounds,
    mean: average,
    mean_of_answered: answered === 0 ? null : answeredSum / answered,
    stdev,
    stderr: clustered?.stderr ?? null,
    ci95: clustered && meanInterval({ mean: average, ...clustered }),
    min,
    max,
    ...(failed > 0 && {
      error_bounds: [(answeredSum + lowest) / all, (answeredSum + highest + failed) / all],
    }),
  };
}

const NOTHING: Statistic = {
  n: 0,
  turns: 0,
  failed: 0,
  missing: 0,
  bounds: null,
  mean: null,
  mean_of_answered: null,
  stdev: null,
  stderr: null,
  ci95: null,
  min: null,
  max: null,
};

/**
 * The sample's standard deviation (n − 1), and how far apart the clusters lie. The standard error is
 * that of a mean whose observations come in clusters: the residuals of a cluster are summed before
 * they are squared, so that turns which fail together do not count as so many proofs. With one
 * observation per cluster this is the ordinary s/√n. `null` for fewer than two observations, or
 * clusters.
 */
function spread(
  name: string,
  turns: ScoredTurn[],
  { n, average }: { n: number; average: number },
): { stdev: number | null; clustered: Omit<ClusteredMean, "mean"> | null } {
  let squares = 0;
  const clusters = { count: 0, squares: 0, cubes: 0, sizes: 0, isAllOrNothing: true };
  let current: number | undefined;
  let residual = 0;
  let size = 0;
  let first = 0;
  const closeCluster = () => {
    clusters.squares += residual ** 2;
    clusters.cubes += residual ** 3;
    clusters.sizes += size ** 2;
  };
  for (const { scores, cluster } of turns) {
    const value = scores[name];
    if (typeof value !== "number") continue;
    squares += (value - average) ** 2;
    if (cluster !== current) {
      closeCluster();
      residual = 0;
      size = 0;
      first = value;
      clusters.count++;
      current = cluster;
    }
    residual += value - average;
    size++;
    if (value !== first || (value !== 0 && value !== 1)) clusters.isAllOrNothing = false;
  }
  closeCluster();
  const { count } = clusters;
  const variance = clusters.squares / count;
  return {
    stdev: n < 2 ? null : Math.sqrt(squares / (n - 1)),
    clustered: count < 2 ? null : {
      clusters: count,
      effectiveClusters: n ** 2 / clusters.sizes,
      stderr: Math.sqrt(count / (count - 1) * clusters.squares) / n,
      skewness: variance < ROUNDING ** 2 ? 0 : clusters.cubes / count / variance ** 1.5,
      isAllOrNothing: clusters.isAllOrNothing,
    },
  };
}

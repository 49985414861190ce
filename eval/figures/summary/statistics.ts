import type { InteractionResult } from "../../test/interaction_result.ts";
import type { Scores, Statistic } from "../../test/statistics.ts";
import { counted } from "../../../shared/service/text.ts";
import { mean, sampleVariance } from "../../score/mean.ts";
import { FEWEST_FOR_INTERVAL, meanInterval } from "./mean_interval.ts";

/** A turn's scores for an average. */
export interface ScoredTurn {
  scores: Scores;
  /** A failed turn counts 0. */
  failed: boolean;
  /** Turns of one cluster are not independent; see `ofSample`. */
  cluster: number;
  /** Scores that the turn should have: they count 0. */
  missing?: Record<string, unknown> | undefined;
}

/** See `ScoredTurn` for `cluster`. */
export function toScoredTurn(
  { scores, error, missing_scores }: Pick<InteractionResult, "scores" | "error" | "missing_scores">,
  cluster: number,
): ScoredTurn {
  return { scores, failed: error !== undefined, missing: missing_scores, cluster };
}

/** What the clusters are: attempts at a scenario, or scenarios. */
type Sampled = "attempt" | "scenario";

interface Sum {
  sum: number;
  count: number;
}

/**
 * One score over the turns that should have it. Turns of a cluster must follow one another. There is
 * an interval over the clusters only if `sampled` is set.
 */
export function scoreStatistic(
  name: string,
  turns: ScoredTurn[],
  sampled?: Sampled,
): Statistic {
  const all: Sum = { sum: 0, count: 0 };
  const clusters: Sum[] = [];
  const answered: Sum = { sum: 0, count: 0 };
  let open: number | undefined;
  let missing = 0;
  let average = 0; // Welford's algorithm: a difference of large squares would lose digits
  let squares = 0;
  let min = Infinity;
  let max = -Infinity;
  for (const turn of turns) {
    const score = turn.scores[name];
    const isKnown = typeof score === "number";
    if (!isKnown && turn.missing?.[name] === undefined) continue;
    const value = isKnown ? score : 0;
    if (!isKnown) missing++;
    if (turn.cluster !== open) clusters.push({ sum: 0, count: 0 });
    open = turn.cluster;
    for (const sums of [all, clusters.at(-1)!]) {
      sums.sum += value;
      sums.count++;
    }
    min = Math.min(min, value);
    max = Math.max(max, value);
    const deviation = value - average;
    average += deviation / all.count;
    squares += deviation * (value - average);
    if (!isKnown || turn.failed) continue;
    answered.sum += value;
    answered.count++;
  }
  const { count } = all;
  if (count === 0) return { n: 0, turns: 0, failed: 0, missing: 0, mean: null, ci95: null };
  return {
    n: count,
    turns: count - missing,
    failed: count - missing - answered.count,
    missing,
    mean: all.sum / count,
    ...ofSample(clusters, sampled),
    mean_of_answered: answered.count === 0 ? null : answered.sum / answered.count,
    stdev: count < 2 ? null : Math.sqrt(squares / (count - 1)),
    min,
    max,
  };
}

/**
 * The interval and the standard error over the means of clusters: turns that fail together are not
 * independent evidence. A run without an interval has a `ci95_reason`.
 */
export function ofSample(
  clusters: Sum[],
  sampled?: Sampled,
): Pick<Statistic, "ci95" | "ci95_reason" | "stderr"> {
  if (sampled === undefined) return { ci95: null, stderr: null };
  const means = clusters.map(({ sum, count }) => sum / count);
  const ci95 = meanInterval(means);
  const spread = sampleVariance(means);
  return {
    ci95,
    ...(!ci95 && sampled === "scenario" && { ci95_reason: tooFew(clusters.length) }),
    stderr: spread === null ? null : Math.sqrt(spread / means.length),
  };
}

/** The reason why there is no interval. */
export function tooFew(scenarios: number): string {
  return `${counted(scenarios, "scenario")}: an interval needs ${FEWEST_FOR_INTERVAL}`;
}

/**
 * The mean and the spread of each score over the turns of one attempt that should have it. A score
 * that applies nowhere is `null`; names keep the order in which they first occur. Only the `wanted`
 * scores; all if it is unset.
 */
export function aggregateScores(
  turns: ScoredTurn[],
  wanted?: readonly string[],
): AggregatedScores {
  const names = scoreNames(turns).filter((name) => wanted?.includes(name) ?? true);
  return withMeans(names.map((name) => [name, scoreStatistic(name, turns)]));
}

/**
 * The same for a scenario, with an interval over its attempts. The turns of an attempt follow one
 * another; there may be 100,000 of them.
 */
export function aggregateAttempts(
  turns: ScoredTurn[],
  pause: () => Promise<void>,
): Promise<AggregatedScores> {
  return describeEach(scoreNames(turns), (name) => scoreStatistic(name, turns, "attempt"), pause);
}

/** `pause` is awaited before each score. */
export async function describeEach(
  names: string[],
  describe: (name: string) => Statistic,
  pause: () => Promise<void>,
): Promise<AggregatedScores> {
  const found: [name: string, statistic: Statistic][] = [];
  for (const name of names) {
    await pause();
    found.push([name, describe(name)]);
  }
  return withMeans(found);
}

function withMeans(named: [name: string, statistic: Statistic][]): AggregatedScores {
  return {
    average_scores: Object.fromEntries(named.map(([name, { mean }]) => [name, mean])),
    statistics: Object.fromEntries(named),
  };
}

interface ScenarioColumn extends Pick<Statistic, "turns" | "failed" | "missing"> {
  /** By question. */
  means: Map<string, Sum>;
  answered: Map<string, Sum>;
}

/**
 * The mean and the spread over the scenarios of a run, which are added one by one and have equal
 * weight. Scenarios with the same `question` count as one: `n` is the number of questions; `turns`,
 * `failed` and `missing` are numbers of turns.
 */
export function createScenarioAggregate() {
  const columns = new Map<string, ScenarioColumn>();
  return {
    add(statistics: Record<string, Statistic>, question: string): void {
      for (const name in statistics) {
        const { mean, mean_of_answered, turns, failed, missing } = statistics[name]!;
        const column = columns.getOrInsertComputed(
          name,
          () => ({ means: new Map(), answered: new Map(), turns: 0, failed: 0, missing: 0 }),
        );
        column.turns += turns;
        column.failed += failed;
        column.missing += missing;
        addTo(column.means, question, mean);
        addTo(column.answered, question, mean_of_answered ?? null);
      }
    },
    names: () => [...columns.keys()],
    /** Slow, if there are a hundred thousand questions. */
    describe: (name: string): Statistic => describeColumn(name, columns.get(name)!),
  };
}

function addTo(sums: Map<string, Sum>, question: string, value: number | null): void {
  if (value === null) return;
  const known = sums.getOrInsertComputed(question, () => ({ sum: 0, count: 0 }));
  known.sum += value;
  known.count++;
}

/** Treats each question as a turn of `scoreStatistic`. */
function describeColumn(name: string, column: ScenarioColumn): Statistic {
  const { turns, failed, missing } = column;
  const meansOf = (sums: Map<string, Sum>) =>
    [...sums.values()].map(({ sum, count }) => sum / count);
  const means = meansOf(column.means);
  const values = means.map((value, cluster) => ({
    scores: { [name]: value },
    failed: false,
    cluster,
  }));
  return {
    ...scoreStatistic(name, values, "scenario"),
    ...{ turns, failed, missing },
    ...(means.length > 0 && { mean_of_answered: mean(meansOf(column.answered)) }),
  };
}

export interface AggregatedScores {
  average_scores: Scores;
  statistics: Record<string, Statistic>;
}

function scoreNames(turns: ScoredTurn[]): string[] {
  const names = new Set<string>();
  for (const { scores, missing } of turns) {
    for (const name in scores) names.add(name);
    for (const name in missing) names.add(name);
  }
  return [...names];
}

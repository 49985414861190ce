import { createYielder } from "../../shared/yielder.ts";
import { ALPHA } from "../results/mean_interval.ts";
import { HEADLINE } from "../results/passing.ts";
import { requireKnown, SEED } from "./compare.ts";
import { describeScore, type TestedScore, testScores } from "./compare_scores.ts";
import { createLeftOutCounter, type ScoreComparison, type ScoreVerdict } from "./comparison.ts";
import { DRAWN, holm } from "./statistics/permutation.ts";
import { type ComparableRun, pairReadRuns, type ReadRun, readRun } from "./paired_runs.ts";
import { decideVerdict, undecidable } from "./verdict.ts";

/** Two of several runs, and their verdict by the deciding score. */
interface ComparedPair extends ScoreVerdict {
  /** Positions in the list of runs; the baseline is the earlier one. */
  baseline: number;
  candidate: number;
  /** Unset if the score was not compared. */
  score?: ScoreComparison;
}

export interface PairwiseResult {
  pairs: ComparedPair[];
  /** The score that decides. */
  decidedBy: string;
  /** The number of tests that verdicts are corrected for: pairs whose runs both have the score. */
  tests: number;
  seed: number;
}

/** The scores of as many turns take about 30 MB. */
const KEPT_TURNS = 50_000;
/** The number of drawn rearrangements that are expected at the corrected level. */
const COUNTED_DRAWS = 20;
const MOST_DRAWS = 100_000;

/**
 * Compares each run with each other one, by one score that is chosen beforehand. Holm's correction
 * is over the pairs, so the chance that any verdict on equal models is false is at most 5 %.
 *
 * Runs with up to `keptTurns` turns in total are kept in memory. The others are read again for each
 * pair, so that at most two of them are in memory. Throws 400 for a score that no run has.
 */
export async function comparePairwise(
  runs: (() => ComparableRun)[],
  { decideBy = HEADLINE, seed = SEED, keptTurns = KEPT_TURNS }: {
    decideBy?: string | undefined;
    seed?: number;
    keptTurns?: number;
  } = {},
): Promise<PairwiseResult> {
  const read = createKeptReader(runs, keptTurns);
  const pause = createYielder();
  const draws = drawsFor(runs.length * (runs.length - 1) / 2);
  const found: { baseline: number; candidate: number; tested: TestedScore | undefined }[] = [];
  const known = new Set<string>();

  async function test(both: Both): Promise<TestedScore | undefined> {
    const { pairs } = await pairReadRuns(both, pause);
    const leftOut = createLeftOutCounter();
    const options = { names: [decideBy], seed, draws, leftOut, pause };
    return (await testScores(pairs, options)).tested[0];
  }

  for (const baseline of runs.slice(0, -1).keys()) {
    const first = await read(baseline);
    for (const name of first.names) known.add(name);
    for (let candidate = baseline + 1; candidate < runs.length; candidate++) {
      const second = await read(candidate);
      for (const name of second.names) known.add(name);
      const tested = await test({ baseline: first, candidate: second });
      found.push({ baseline, candidate, tested });
    }
    if (baseline === 0 && known.size > 0) requireKnown(decideBy, [...known]);
  }

  const tested = found.flatMap(({ tested }) => tested ?? []);
  const corrected = holm(tested.map(({ p }) => p), ALPHA);
  const asCounted = holm(tested.map(({ pAsCounted }) => pAsCounted), ALPHA);
  const pairs = found.map(({ tested: own, ...pair }): ComparedPair => {
    if (!own) return { ...pair, ...undecidable(decideBy, "no scenario has it in both runs") };
    const index = tested.indexOf(own);
    const decision = decideVerdict({
      ...own,
      pAlone: own.p,
      p: corrected[index]!.p,
      pAsCounted: asCounted[index]!.p,
      tests: tested.length,
    });
    return { ...pair, ...decision, score: describeScore(own, corrected[index]) };
  });
  return { pairs, decidedBy: decideBy, tests: tested.length, seed };
}

type Both = Record<"baseline" | "candidate", ReadRun>;

/** Reads runs by their position, and keeps the first ones that fit into `keptTurns`. */
function createKeptReader(runs: (() => ComparableRun)[], keptTurns: number) {
  const kept = new Map<number, ReadRun>();
  let room = keptTurns;
  return async (position: number): Promise<ReadRun> => {
    const known = kept.get(position);
    if (known) return known;
    const run = await readRun(runs[position]!());
    const size = countTurns(run);
    if (size <= room) {
      kept.set(position, run);
      room -= size;
    }
    return run;
  };
}

function countTurns({ turns }: ReadRun): number {
  let count = 0;
  for (const scenario of turns.values()) {
    for (const attempts of scenario.values()) count += attempts.length;
  }
  return count;
}

/** Many tests need more draws: a p-value from a sample is at least 1 / draws. */
function drawsFor(tests: number): number {
  return Math.min(MOST_DRAWS, Math.max(DRAWN, Math.ceil(COUNTED_DRAWS * tests / ALPHA)));
}

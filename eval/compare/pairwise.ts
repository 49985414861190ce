import { AppError } from "../../shared/errors.ts";
import { createYielder } from "../../shared/yielder.ts";
import { HEADLINE } from "../results/passing.ts";
import { DEFAULT_SEED } from "./compare.ts";
import { decideVerdicts, type TestedScore, testScores } from "./compare_scores.ts";
import type { ScoreComparison, Verdict } from "./comparison.ts";
import { createLeftOutCounter } from "./left_out.ts";
import { type ComparableRun, pairReadRuns, type ReadRun, readRun } from "./paired_runs.ts";
import { DRAWN } from "./partitions.ts";
import { ALPHA } from "./spans.ts";

/** Two of several runs, and what each of their scores says. */
export interface ComparedPair {
  /** Positions in the list of runs; the earlier one is the baseline. */
  baseline: number;
  candidate: number;
  scores: Record<string, ScoreComparison>;
  /** `improved` or `regressed` if no score says the opposite. */
  verdict: Verdict;
}

export interface PairwiseResult {
  pairs: ComparedPair[];
  /** The scores that were looked at. */
  scores: string[];
  /** How many tests the verdicts are corrected for: pairs × scores, as far as both runs have them. */
  tests: number;
  seed: number;
}

/** Their scores take some 30 MB. */
const KEPT_TURNS = 50_000;
/** At the corrected level, the p-value of about so many drawn rearrangements is significant. */
const COUNTED_DRAWS = 20;
const MOST_DRAWS = 100_000;

/**
 * Compares each run with each other one. Holm's correction is over all pairs and scores, so the
 * chance that any verdict on equal models is false is at most 5 %. Only the headline is looked at
 * unless `scores` names others: with each further score smaller differences go unnoticed.
 *
 * Each run is read once, as far as `keptTurns` allow; the others are read again for each pair, so
 * that no more than two of them are in memory. Throws 400 for a score that no run has.
 */
export async function comparePairwise(
  runs: (() => ComparableRun)[],
  { scores: wanted = [], seed = DEFAULT_SEED, keptTurns = KEPT_TURNS }: {
    scores?: string[];
    seed?: number;
    keptTurns?: number;
  } = {},
): Promise<PairwiseResult> {
  const read = createKeptReader(runs, keptTurns);
  const pause = createYielder();
  const pairCount = runs.length * (runs.length - 1) / 2;
  const found: { pair: Pick<ComparedPair, "baseline" | "candidate">; tested: TestedScore[] }[] = [];
  const known = new Set<string>();
  let scores: string[] = [];

  async function test(ids: { baseline: number; candidate: number }, both: Both): Promise<void> {
    const { pairs } = await pairReadRuns(both, pause);
    const draws = drawsFor(pairCount * scores.length);
    const leftOut = createLeftOutCounter();
    const { tested } = await testScores(pairs, { names: scores, seed, draws, leftOut, pause });
    found.push({ pair: ids, tested });
  }

  for (const baseline of runs.slice(0, -1).keys()) {
    const first = await read(baseline);
    for (const name of first.names) known.add(name);
    if (baseline === 0) scores = chooseScores(first, wanted);
    for (let candidate = baseline + 1; candidate < runs.length; candidate++) {
      const second = await read(candidate);
      for (const name of second.names) known.add(name);
      await test({ baseline, candidate }, { baseline: first, candidate: second });
    }
    if (baseline === 0) requireKnown(wanted, known);
  }

  const tested = found.flatMap(({ tested }) => tested);
  const decided = await decideVerdicts(tested, { what: "comparison", pause });
  const verdicts = new Map(tested.map((score, index) => [score, decided[index]!]));
  const pairs = found.map(({ pair, tested }): ComparedPair => {
    const scores = Object.fromEntries(tested.map((one) => [one.name, verdicts.get(one)!]));
    return { ...pair, scores, verdict: agreedVerdict(Object.values(scores)) };
  });
  return { pairs, scores, tests: tested.length, seed };
}

type Both = Record<"baseline" | "candidate", ReadRun>;

/** Reads runs by their position, and keeps the first ones whose turns fit together. */
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

/** A p-value of a sample cannot be smaller than one rearrangement, and the level may be very small. */
function drawsFor(tests: number): number {
  return Math.min(MOST_DRAWS, Math.max(DRAWN, Math.ceil(COUNTED_DRAWS * tests / ALPHA)));
}

function chooseScores({ names }: ReadRun, wanted: string[]): string[] {
  if (wanted.length > 0) return [...new Set(wanted)];
  const headline = names.has(HEADLINE) ? HEADLINE : [...names][0];
  return headline === undefined ? [] : [headline];
}

function requireKnown(wanted: string[], known: Set<string>): void {
  const unknown = wanted.filter((name) => !known.has(name));
  if (unknown.length === 0 || known.size === 0) return;
  throw new AppError(
    400,
    "invalid_request",
    `cannot compare ${unknown.join(", ")}: the scores of the runs are ${[...known].join(", ")}`,
    { errors: [{ path: "scores", message: `has unknown scores: ${unknown.join(", ")}` }] },
  );
}

/** Scores that contradict each other give no verdict on the models as a whole. */
function agreedVerdict(scores: Pick<ScoreComparison, "verdict">[]): Verdict {
  const found = new Set(scores.map(({ verdict }) => verdict));
  found.delete("inconclusive");
  const [verdict] = found;
  return verdict !== undefined && found.size === 1 ? verdict : "inconclusive";
}

import { AppError } from "../../shared/service/errors.ts";
import { createYielder } from "../../shared/service/waiting.ts";
import { OVERALL_PARTS } from "../score/score.ts";
import { ALPHA } from "./summary/mean_interval.ts";
import { noteCopies } from "./summary/notes.ts";
import { HEADLINE } from "./passing.ts";
import type { ScenarioPair } from "./compare/statistics/clusters.ts";
import {
  correct,
  type DecidingScore,
  describeScore,
  type TestedScore,
  testScores,
} from "./compare/compare_scores.ts";
import {
  type ComparedPair,
  createLeftOutCounter,
  type LeftOut,
  type Verdicts,
} from "./comparison.ts";
import { DRAWN, METHOD } from "./compare/statistics/permutation.ts";
import {
  type ComparableRun,
  type PairedRuns,
  pairReadRuns,
  type ReadRun,
  readRun,
} from "./compare/paired_runs.ts";
import { decideVerdict, undecidable } from "./verdict.ts";

export interface CompareOptions {
  /** The score that decides; `overall` if it is unset. */
  decideBy?: string | undefined;
  /** The smallest difference that matters, in [0, 1]; 0 if it is unset. */
  minDifference?: number | undefined;
  /** Of the sample of permutations. */
  seed?: number;
  /** Runs with up to so many turns in total are kept in memory. */
  keptTurns?: number;
}

export interface NamedRun {
  /** Unique among the compared runs. */
  name: string;
  open(): ComparableRun | Promise<ComparableRun>;
}

/** The same runs give the same answer each time. */
export const SEED = 20_260_101;
/** The scores of as many turns take about 30 MB. */
const KEPT_TURNS = 50_000;
/** The number of drawn rearrangements that are expected at the corrected level. */
const COUNTED_DRAWS = 20;
const MOST_DRAWS = 100_000;

/** A pair before its verdict: that is corrected for the other pairs. */
interface TestedPair {
  /** Positions of its runs. */
  baseline: number;
  candidate: number;
  deciding: DecidingScore | undefined;
  others: TestedScore[];
  whyNot: string;
  facts: Omit<
    ComparedPair,
    "baseline" | "candidate" | "better" | "scores" | "verdict" | "reason" | "verdict_as_counted"
  >;
}

/**
 * Decides for each run and each later one which is better, by one score that is chosen beforehand.
 * Holm's correction is over the pairs, so the chance that any verdict on equal runs is false is at
 * most 5 %; two runs are one pair, whose other scores are tested, too, to describe what else
 * changed. The verdict is about scenarios like these, so scenarios are the sample: more attempts
 * make each of them more exact, but add no scenarios. Turns and scores of only one run are not
 * compared, and there is no verdict that missing values could change.
 *
 * Runs that do not fit into `keptTurns` are read again for each pair, so that at most two of them
 * are in memory. Throws 400 for a deciding score that no run has.
 */
export async function compareRuns(
  runs: NamedRun[],
  { decideBy = HEADLINE, minDifference = 0, seed = SEED, keptTurns = KEPT_TURNS }: CompareOptions =
    {},
): Promise<Verdicts> {
  const read = createKeptReader(runs, keptTurns);
  const pause = createYielder();
  const draws = drawsFor(runs.length * (runs.length - 1) / 2);
  const found: TestedPair[] = [];
  const scoreNames = new Set<string>();

  async function test(both: Record<"baseline" | "candidate", ReadRun>) {
    const paired = await pairReadRuns(both, pause);
    const leftOut = createLeftOutCounter();
    const names = runs.length === 2 ? paired.common : [decideBy];
    const options = { names, decideBy, seed, draws, leftOut, pause };
    const tested = await testScores(paired.pairs, options);
    return {
      ...tested,
      whyNot: whyNot(decideBy, paired),
      facts: {
        notes: notesOn(paired, leftOut.list()),
        left_out: leftOut.list(),
        moved: tested.deciding ? { score: decideBy, ...tested.deciding.moved } : null,
        changed: paired.changed,
        only_in_baseline: paired.onlyIn.baseline,
        only_in_candidate: paired.onlyIn.candidate,
      },
    };
  }

  for (const baseline of runs.slice(0, -1).keys()) {
    const first = await read(baseline);
    for (const name of first.names) scoreNames.add(name);
    for (let candidate = baseline + 1; candidate < runs.length; candidate++) {
      const second = await read(candidate);
      for (const name of second.names) scoreNames.add(name);
      const tested = await test({ baseline: first, candidate: second });
      found.push({ baseline, candidate, ...tested });
    }
    if (baseline === 0 && scoreNames.size > 0) requireKnown(decideBy, [...scoreNames]);
  }

  const deciding = found.flatMap(({ deciding }) => deciding ?? []);
  const counted = correct(deciding.map(({ test }) => test));
  const known = correct(deciding.map(({ known }) => known));
  const scored = correct(deciding.map(({ scored }) => scored));
  const pairs = found.map(({ deciding: score, others, whyNot, facts, ...places }) => {
    const [baseline, candidate] = [runs[places.baseline]!.name, runs[places.candidate]!.name];
    const index = score ? deciding.indexOf(score) : -1;
    const decision = score
      ? decideVerdict(score, {
        counted: counted[index]!,
        known: known[index]!,
        scored: scored[index]!,
        minDifference,
      })
      : undecidable(decideBy, whyNot);
    const ofOthers = correct(others.map(({ test }) => test));
    return {
      baseline,
      candidate,
      better: decision.verdict === "improved"
        ? candidate
        : decision.verdict === "regressed"
        ? baseline
        : null,
      ...decision,
      scores: Object.fromEntries([ // safe for any name, including __proto__
        ...(score ? [[decideBy, describeScore(score.means, counted[index]!)]] : []),
        ...others.map(({ score, means }, other) => [score, describeScore(means, ofOthers[other]!)]),
      ]),
      ...facts,
    } satisfies ComparedPair;
  });
  const worse = new Set(
    pairs.map(({ better, baseline, candidate }) =>
      better && (better === candidate ? baseline : candidate)
    ),
  );
  return {
    pairs,
    best: runs.map(({ name }) => name).filter((name) => !worse.has(name)),
    decided_by: decideBy,
    ...(minDifference > 0 && { min_difference: minDifference }),
    tests: deciding.length,
    method: {
      ...METHOD,
      correction: runs.length === 2
        ? "none for the deciding score; Holm among the others"
        : "Holm, over all pairs",
      confidence: 1 - ALPHA,
      seed,
    },
  };
}

/** Reads runs by their position, and keeps the first ones that fit into `keptTurns`. */
function createKeptReader(runs: NamedRun[], keptTurns: number) {
  const kept = new Map<number, ReadRun>();
  let room = keptTurns;
  return async (position: number): Promise<ReadRun> => {
    const known = kept.get(position);
    if (known) return known;
    const run = await readRun(await runs[position]!.open());
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
  turns.forEach((scenario) => scenario.forEach((attempts) => count += attempts.length));
  return count;
}

/** Many tests need more draws: a p-value from a sample is at least 1 / draws. */
function drawsFor(tests: number): number {
  return Math.min(MOST_DRAWS, Math.max(DRAWN, Math.ceil(COUNTED_DRAWS * tests / ALPHA)));
}

function notesOn(
  { pairs, hasOtherHistory }: PairedRuns,
  leftOut: LeftOut[],
): ComparedPair["notes"] {
  return [
    ...(hasOtherHistory ? [OTHER_HISTORY] : []),
    ...noteReduced(leftOut),
    ...noteCopies(pairs.map(({ question }) => question)),
    ...noteTruncated(pairs),
  ];
}

const OTHER_HISTORY = {
  code: "other_history",
  detail: "one run was asked after its own replies, the other one after the references: the " +
    "difference of later turns is also what errors in earlier replies cost",
};

/** Throws 400 for a deciding score that is not among the `known` ones of the runs. */
function requireKnown(decideBy: string, known: string[]): void {
  if (decideBy === HEADLINE || known.includes(decideBy)) return;
  throw new AppError(
    400,
    "invalid_request",
    `cannot decide by ${decideBy}: the scores of the runs are ${known.join(", ")}`,
    { errors: [{ path: "decide_by", message: `must be one of ${known.join(", ")}` }] },
  );
}

function whyNot(decideBy: string, { pairs, common, onlyIn }: PairedRuns): string {
  if (pairs.length === 0) return "the runs have no scenario in common";
  if (common.includes(decideBy)) {
    return `no turn has it by the same method in both runs; ${SCORE_AGAIN}`;
  }
  const only = (["baseline", "candidate"] as const)
    .find((side) => onlyIn[side].scores.includes(decideBy));
  return only === undefined ? "neither run has it" : `only the ${only} has it`;
}

/** The way to compare runs that were scored by different measures. */
const SCORE_AGAIN = "score one of them again by the measure of the other (POST /runs/{id}/rescore)";

/** Notes that more replies of one run end at the token limit, which lowers their scores. */
function noteTruncated(pairs: ScenarioPair[]): ComparedPair["notes"] {
  const count = (side: "baseline" | "candidate") =>
    pairs.reduce(
      (sum, { turns }) =>
        sum +
        turns.reduce(
          (all, pair) => all + pair[side].filter(({ truncated }) => truncated).length,
          0,
        ),
      0,
    );
  const [baseline, candidate] = [count("baseline"), count("candidate")];
  if (baseline === candidate) return [];
  return [{
    code: "truncated",
    detail: `${baseline} ${baseline === 1 ? "reply" : "replies"} of the baseline and ` +
      `${candidate} of the candidate are cut off at the token limit: that may be what differs`,
  }];
}

/** Explains why means of `overall` differ from those of the runs. */
function noteReduced(leftOut: LeftOut[]): ComparedPair["notes"] {
  const parts = OVERALL_PARTS.filter((part) => leftOut.some(({ score }) => score === part));
  if (parts.length === 0) return [];
  return [{
    code: "overall_reduced",
    detail: `${HEADLINE} is computed without ${parts.join(", ")} where that cannot be compared ` +
      `(left_out); its means differ from those of the runs. If the measures differ, ${SCORE_AGAIN}`,
  }];
}

import { AppError } from "../../shared/errors.ts";
import { createYielder } from "../../shared/yielder.ts";
import { OVERALL_PARTS } from "../assess/scores/overall.ts";
import { ALPHA } from "../results/mean_interval.ts";
import { noteCopies } from "../results/notes.ts";
import { HEADLINE } from "../results/passing.ts";
import type { ScenarioPair } from "./statistics/clusters.ts";
import { describeScore, mostMoved, testScores } from "./compare_scores.ts";
import { type Comparison, createLeftOutCounter, type LeftOut } from "./comparison.ts";
import { holm, METHOD } from "./statistics/permutation.ts";
import { type ComparableRun, type PairedRuns, pairRuns } from "./paired_runs.ts";
import { decideVerdict, undecidable } from "./verdict.ts";

export interface CompareOptions {
  /** The score that decides; `overall` if it is unset. */
  decideBy?: string | undefined;
  /** The smallest difference that matters, in [0, 1]; 0 if it is unset. */
  minDifference?: number | undefined;
}

/** Of the sample of permutations: the same runs give the same answer each time. */
export const SEED = 20_260_101;

/**
 * Decides whether the candidate is better than the baseline by one score that is chosen beforehand.
 * It is tested alone; the other scores only describe what else changed. The verdict is about
 * scenarios like these, so scenarios are the sample: more attempts make each of them more exact,
 * but add no scenarios. Turns and scores of only one run are not compared, and there is no verdict
 * that missing values could change. Throws 400 for a deciding score that neither run has.
 */
export async function compareRuns(
  runs: { baseline: ComparableRun; candidate: ComparableRun },
  { decideBy = HEADLINE, minDifference = 0 }: CompareOptions = {},
): Promise<Comparison> {
  const pause = createYielder();
  const paired = await pairRuns(runs, pause);
  const { pairs, changed, onlyIn, common, otherHistory } = paired;
  requireKnown(decideBy, [...common, ...onlyIn.baseline.scores, ...onlyIn.candidate.scores]);
  const leftOut = createLeftOutCounter();
  const { tested, clusters } = await testScores(pairs, {
    names: common,
    seed: SEED,
    leftOut,
    pause,
  });
  const deciding = tested.find(({ score }) => score === decideBy);
  const others = tested.filter((score) => score !== deciding);
  const corrected = holm(others.map(({ p }) => p), ALPHA);
  const left_out = leftOut.list();
  return {
    ...(deciding
      ? decideVerdict(deciding, minDifference)
      : undecidable(decideBy, whyNot(decideBy, paired))),
    decided_by: decideBy,
    ...(minDifference > 0 && { min_difference: minDifference }),
    scores: Object.fromEntries([ // safe for any name, including __proto__
      ...(deciding ? [[decideBy, describeScore(deciding)]] : []),
      ...others.map((score, index) => [score.score, describeScore(score, corrected[index])]),
    ]),
    notes: [
      ...noteReduced(left_out),
      ...noteCopies(pairs.map(({ question }) => question)),
      ...noteTruncated(pairs),
    ],
    left_out,
    moved: deciding ? { score: decideBy, ...mostMoved(clusters.get(decideBy)!) } : null,
    changed,
    ...(otherHistory > 0 && { other_history: { turns: otherHistory } }),
    only_in_baseline: onlyIn.baseline,
    only_in_candidate: onlyIn.candidate,
    method: {
      ...METHOD,
      correction: "none for the deciding score; Holm among the others",
      confidence: 1 - ALPHA,
      seed: SEED,
    },
  };
}

/** Throws 400 for a deciding score that is not among the `known` ones of the runs. */
export function requireKnown(decideBy: string, known: string[]): void {
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
  if (common.includes(decideBy)) return "no turn has it by the same method in both runs";
  const only = (["baseline", "candidate"] as const)
    .find((side) => onlyIn[side].scores.includes(decideBy));
  return only === undefined ? "neither run has it" : `only the ${only} has it`;
}

/** Notes that more replies of one run end at the token limit, which lowers their scores. */
function noteTruncated(pairs: ScenarioPair[]): Comparison["notes"] {
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
function noteReduced(leftOut: LeftOut[]): Comparison["notes"] {
  const parts = OVERALL_PARTS.filter((part) => leftOut.some(({ score }) => score === part));
  if (parts.length === 0) return [];
  return [{
    code: "overall_reduced",
    detail: `${HEADLINE} is computed without ${parts.join(", ")} where that cannot be compared ` +
      "(left_out); its means differ from those of the runs",
  }];
}

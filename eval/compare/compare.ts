import { AppError } from "../../shared/errors.ts";
import { createYielder } from "../../shared/yielder.ts";
import { HEADLINE } from "../results/passing.ts";
import { decideVerdicts, mostMoved, testScores } from "./compare_scores.ts";
import type { Comparison } from "./comparison.ts";
import { createLeftOutCounter } from "./left_out.ts";
import { METHOD } from "./permutation.ts";
import { type ComparableRun, pairRuns } from "./paired_runs.ts";
import { overallVerdict } from "./verdict.ts";

/** `seed` chooses the sample of permutations; the same gives the same answer. */
export interface CompareOptions {
  /** The scores to look at, and to correct for; all that both runs have if it is empty. */
  scores?: string[];
  seed?: number;
}

export const DEFAULT_SEED = 20_260_101;

/**
 * Says of each score whether the candidate is better than the baseline. The question is about
 * scenarios like these, so scenarios are the sample: more attempts make each of them more exact,
 * but add no scenarios. What one run lacks is not compared, and no verdict is given that the
 * missing values could change. Throws 400 for a score that the runs do not both have.
 */
export async function compareRuns(
  runs: { baseline: ComparableRun; candidate: ComparableRun },
  { scores: wanted = [], seed = DEFAULT_SEED }: CompareOptions = {},
): Promise<Comparison> {
  const pause = createYielder();
  const { pairs, changed, onlyIn, common, otherHistory } = await pairRuns(runs, pause);
  const names = chooseScores(common, wanted);
  const leftOut = createLeftOutCounter();
  const { tested, clusters } = await testScores(pairs, { names, seed, leftOut, pause });
  const decided = await decideVerdicts(tested, { what: "score", headline: HEADLINE, pause });
  const byName = tested.map(({ name }, index) => [name, decided[index]!] as const)
    .sort(([a], [b]) => Number(b === HEADLINE) - Number(a === HEADLINE));
  const scores = Object.fromEntries(byName); // a score may have any name, also __proto__
  const headline = HEADLINE in scores ? HEADLINE : Object.keys(scores)[0];

  return {
    verdict: overallVerdict(Object.values(scores)),
    scores,
    left_out: leftOut.list(),
    moved: headline === undefined
      ? null
      : { score: headline, ...mostMoved(clusters.get(headline)!) },
    changed,
    ...(otherHistory > 0 && { other_history: { turns: otherHistory } }),
    only_in_baseline: onlyIn.baseline,
    only_in_candidate: onlyIn.candidate,
    method: {
      ...METHOD,
      correction: `Holm, with half of the level for ${HEADLINE}`,
      confidence: 0.95,
      scores_looked_at: Object.keys(scores).length,
      seed,
    },
  };
}

function chooseScores(common: string[], wanted: string[]): string[] {
  if (wanted.length === 0) return common;
  const unknown = wanted.filter((name) => !common.includes(name));
  if (unknown.length === 0) return [...new Set(wanted)];
  throw new AppError(
    400,
    "invalid_request",
    `cannot compare ${unknown.join(", ")}: the scores in both runs are ${common.join(", ")}`,
  );
}

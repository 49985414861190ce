import { AppError } from "../../shared/errors.ts";
import { createYielder } from "../../shared/yielder.ts";
import { HEADLINE } from "../results/passing.ts";
import type { ScenarioPair } from "./clusters.ts";
import { compareScores, mostMoved } from "./compare_scores.ts";
import type { Comparison } from "./comparison.ts";
import { createLeftOutCounter } from "./left_out.ts";
import {
  type Paired,
  pairScenarios,
  pairTurns,
  type PlannedScenario,
  type ReachedScenario,
  reachedScenarios,
} from "./pairing.ts";
import { METHOD } from "./permutation.ts";
import { readScores, type ScoredTurn } from "./turn_scores.ts";
import { overallVerdict } from "./verdict.ts";

/** A run's batch and what came of it, attempts in any number and also unfinished ones. */
export interface ComparableRun {
  scenarios: PlannedScenario[];
  turns: AsyncIterable<ScoredTurn>;
  /** What the judge graded by, if the request said so. */
  rubric?: string | undefined;
}

/** `seed` chooses the sample of permutations; the same gives the same answer. */
export interface CompareOptions {
  /** The scores to look at, and to correct for; all that both runs have if it is empty. */
  scores?: string[];
  seed?: number;
}

const DEFAULT_SEED = 20_260_101;

/**
 * Says of each score whether the candidate is better than the baseline. The question is about
 * scenarios like these, so scenarios are the sample: more attempts make each of them more exact,
 * but do not make them more. What one run lacks is not compared, and no verdict is given that the
 * missing values could change. Throws 400 for a score that the runs do not both have.
 */
export async function compareRuns(
  runs: { baseline: ComparableRun; candidate: ComparableRun },
  { scores: wanted = [], seed = DEFAULT_SEED }: CompareOptions = {},
): Promise<Comparison> {
  const baseline = await readScores(runs.baseline.turns, runs.baseline);
  const candidate = await readScores(runs.candidate.turns, runs.candidate);
  const pause = createYielder();
  const paired = pairScenarios(
    await reachedScenarios(runs.baseline.scenarios, { ...baseline, pause }),
    await reachedScenarios(runs.candidate.scenarios, { ...candidate, pause }),
  );
  const { pairs, changed, turnsOnlyIn } = await pairAllTurns(paired, pause);
  const common = [...baseline.names].filter((name) => candidate.names.has(name));
  const names = chooseScores(common, wanted);
  const leftOut = createLeftOutCounter();
  const { scores, clusters } = await compareScores(pairs, { names, seed, leftOut, pause });
  const headline = HEADLINE in scores ? HEADLINE : Object.keys(scores)[0];

  return {
    verdict: overallVerdict(Object.values(scores)),
    scores,
    left_out: leftOut.list(),
    moved: headline === undefined
      ? null
      : { score: headline, ...mostMoved(clusters.get(headline)!) },
    changed,
    only_in_baseline: {
      scenarios: paired.onlyInBaseline.map(({ id }) => id),
      turns: turnsOnlyIn.baseline,
      scores: [...baseline.names.difference(candidate.names)],
    },
    only_in_candidate: {
      scenarios: paired.onlyInCandidate.map(({ id }) => id),
      turns: turnsOnlyIn.candidate,
      scores: [...candidate.names.difference(baseline.names)],
    },
    method: {
      ...METHOD,
      correction: "Holm",
      confidence: 0.95,
      scores_looked_at: Object.keys(scores).length,
      seed,
    },
  };
}

async function pairAllTurns(paired: Paired<ReachedScenario>, pause: () => Promise<void>) {
  const pairs: ScenarioPair[] = [];
  const changed: string[] = [];
  const turnsOnlyIn: Record<"baseline" | "candidate", Comparison["only_in_baseline"]["turns"]> = {
    baseline: [],
    candidate: [],
  };
  for (const { baseline: { id, fingerprint, turns }, candidate } of paired.pairs) {
    const inside = pairTurns(turns, candidate.turns);
    const both = JSON.stringify([fingerprint, candidate.fingerprint]);
    pairs.push({
      id,
      fingerprint: both,
      key: JSON.stringify([fingerprint, candidate.fingerprint].sort()),
      turns: inside.pairs.map((turn) => ({
        baseline: turn.baseline.attempts,
        candidate: turn.candidate.attempts,
      })),
    });
    const isChanged = fingerprint !== candidate.fingerprint ||
      inside.pairs.some((turn) => turn.baseline.reference_reply !== turn.candidate.reference_reply);
    if (isChanged) changed.push(id);
    const place = (turn: { id: string }) => ({ scenario_id: id, interaction_id: turn.id });
    for (const turn of inside.onlyInBaseline) turnsOnlyIn.baseline.push(place(turn));
    for (const turn of inside.onlyInCandidate) turnsOnlyIn.candidate.push(place(turn));
    await pause();
  }
  return { pairs, changed, turnsOnlyIn };
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

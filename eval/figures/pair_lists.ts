import { z } from "zod";
import { invalidParameter } from "../../shared/service/errors.ts";
import { createYielder } from "../../shared/service/waiting.ts";
import { mean } from "../score/mean.ts";
import type { RunReader } from "../store/store.ts";
import { clusterScore, valueOf } from "./compare/statistics/clusters.ts";
import { comparableRuns } from "./compare_stored.ts";
import { createLeftOutCounter } from "./comparison.ts";
import { type PairedScenario, pairRuns } from "./compare/paired_runs.ts";
import { type Cell, pairScore } from "./compare/turn_pair.ts";

/** One score of a scenario in one run, over its attempts. */
const ScenarioSide = z.object({ scenario: z.int(), mean: z.number() });
const TurnSide = ScenarioSide.extend({ turn: z.int() });

/** A scenario in both runs. `scenario` is its position in the batch of each run, from 0. */
export const PairedScenarioRow = z.object({
  scenario_id: z.string(),
  baseline: ScenarioSide,
  candidate: ScenarioSide,
  /** Candidate − baseline. */
  difference: z.number(),
  /** Turns that both runs have, with this score. */
  turns: z.int(),
});
export type PairedScenarioRow = z.infer<typeof PairedScenarioRow>;

/** A turn in both runs. `turn` is its position in the scenario, from 0. */
export const PairedTurnRow = z.object({
  scenario_id: z.string(),
  interaction_id: z.string(),
  baseline: TurnSide,
  candidate: TurnSide,
  difference: z.number(),
});
export type PairedTurnRow = z.infer<typeof PairedTurnRow>;

/** The scenarios and turns of two runs that both have one score. */
export interface PairLists {
  scenarios: PairedScenarioRow[];
  turns: PairedTurnRow[];
}

export interface PairListQuery {
  baseline: string;
  candidate: string;
  score: string;
}

/**
 * Pairs two stored runs by one score, in the order of the baseline's batch. Means are over what
 * both runs have by the same method, as in the comparison. Throws 404 if a run is missing, and 400
 * for a score that not both runs have.
 */
export async function listPairs(reader: RunReader, query: PairListQuery): Promise<PairLists> {
  const lists = await listPairsByScore(reader, query, (common) => {
    if (common.includes(query.score)) return [query.score];
    throw invalidParameter("score", `must be one of ${common.join(", ")}`);
  });
  return lists.get(query.score) ?? { scenarios: [], turns: [] };
}

/** The same for several of the common scores; the runs are read once. */
export async function listPairsByScore(
  reader: RunReader,
  ids: { baseline: string; candidate: string },
  choose: (common: string[]) => string[],
): Promise<Map<string, PairLists>> {
  const { runs } = await comparableRuns(reader, ids);
  const pause = createYielder();
  const { pairs, common } = await pairRuns(runs, pause);
  const byScore = new Map<string, PairLists>();
  if (pairs.length === 0) return byScore;
  for (const score of choose(common)) {
    const lists: PairLists = { scenarios: [], turns: [] };
    for (const pair of pairs) {
      lists.scenarios.push(...await scenarioRow(pair, { score, pause }));
      lists.turns.push(...turnRows(pair, score));
      await pause();
    }
    byScore.set(score, lists);
  }
  return byScore;
}

/** Empty if a run has no attempt with the score. */
async function scenarioRow(
  pair: PairedScenario,
  { score, pause }: { score: string; pause: () => Promise<void> },
): Promise<PairedScenarioRow[]> {
  const options = { leftOut: createLeftOutCounter(), pause };
  const { clusters: [cluster] } = await clusterScore([[pair]], score, options);
  if (!cluster) return [];
  return [{
    scenario_id: pair.id,
    baseline: { scenario: pair.index.baseline, mean: cluster.baseline },
    candidate: { scenario: pair.index.candidate, mean: cluster.candidate },
    difference: cluster.difference,
    turns: cluster.turns,
  }];
}

function turnRows({ id, index, turns }: PairedScenario, score: string): PairedTurnRow[] {
  const leftOut = createLeftOutCounter();
  return turns.flatMap((turn): PairedTurnRow[] => {
    const cells = pairScore(turn, score, leftOut);
    if (!cells) return [];
    const baseline = meanOf(cells.baseline);
    const candidate = meanOf(cells.candidate);
    if (baseline === null || candidate === null) return [];
    return [{
      scenario_id: id,
      interaction_id: turn.id,
      baseline: { scenario: index.baseline, turn: turn.index.baseline, mean: baseline },
      candidate: { scenario: index.candidate, turn: turn.index.candidate, mean: candidate },
      difference: candidate - baseline,
    }];
  });
}

function meanOf(cells: Cell[]): number | null {
  return mean(cells.filter((cell) => cell !== undefined).map(valueOf));
}

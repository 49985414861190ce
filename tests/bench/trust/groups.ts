import { compareRuns } from "../../../eval/figures/compare.ts";
import { ALPHA } from "../../../eval/figures/summary/mean_interval.ts";
import { recordedRun } from "../../fakes/recorded_run.ts";
import { createSampler, SCORE_KINDS } from "../../fakes/simulated_scores.ts";

/** One cell of the grid of groups. */
export interface GroupCell {
  kind: string;
  models: number;
  scenarios: number;
  attempts: number;
  /** How much better the last model is: 0 counts false alarms, more counts power. */
  better: number;
}

/** Shares of groups with a verdict on any pair. */
export interface GroupShares {
  found: number;
  /** If each pair were tested alone, without the correction. */
  foundUncorrected: number;
}

/** Groups of five equal models. */
export function groupGrid(): GroupCell[] {
  return Object.keys(SCORE_KINDS).flatMap((kind) =>
    [1, 3].map((attempts) => ({ kind, models: 5, scenarios: 12, attempts, better: 0 }))
  );
}

/** Compares the models of many simulated groups, as `GET /compare` does. */
export async function simulateGroups(
  cell: GroupCell,
  { simulations, seed }: { simulations: number; seed: number },
): Promise<GroupShares> {
  const sampler = createSampler(seed);
  let found = 0;
  let foundUncorrected = 0;
  for (let round = 0; round < simulations; round++) {
    const scenarios = Array.from(
      { length: cell.scenarios },
      () => SCORE_KINDS[cell.kind]!(sampler, { noise: 1 }),
    );
    const runs = Array.from({ length: cell.models }, (_, model) => {
      const better = model === cell.models - 1 ? cell.better : 0;
      const values = scenarios.map((attempt) =>
        Array.from({ length: cell.attempts }, () => attempt(better))
      );
      const open = () =>
        recordedRun(values.map((attempts, index) => [`s${index}`, [["t", ...attempts]]]));
      return { name: `model ${model}`, open };
    });
    const { pairs, tests } = await compareRuns(runs, { seed: round });
    if (pairs.some(({ verdict }) => verdict !== "inconclusive")) found++;
    const smallest = Math.min(...pairs.map(({ scores }) => scores.overall!.p!)); // times the tests, 1 at most
    if (smallest < 1 && smallest / tests < ALPHA) foundUncorrected++;
  }
  return { found: found / simulations, foundUncorrected: foundUncorrected / simulations };
}

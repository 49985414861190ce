import type { Scenario } from "../../shared/schemas/evaluate.ts";
import type { Finished } from "../runner.ts";
import type { RunStore } from "../store/store.ts";

/**
 * What is stored of a run, for the runner to go on from. Only counts are held: the turns themselves
 * are read when their attempt's turn comes, and those of whole attempts never.
 */
export async function readFinished(
  store: RunStore,
  { id, scenarios }: { id: string; scenarios: Scenario[] },
): Promise<Finished> {
  const counts = new Map<string, number>();
  for (const { scenario, attempt, turns } of await store.attemptCounts(id)) {
    counts.set(`${scenario}/${attempt}`, turns);
  }
  const countOf = (position: { scenario: number; attempt: number }) =>
    counts.get(`${position.scenario}/${position.attempt}`) ?? 0;

  return {
    isWhole: (position) => countOf(position) === scenarios[position.scenario]?.interactions.length,
    async turns(position) {
      if (countOf(position) === 0) return new Map();
      const turns = await store.attemptTurns(id, position);
      return new Map(turns.map(({ turn, result }) => [turn, result]));
    },
  };
}

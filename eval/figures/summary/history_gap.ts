import type { InteractionResult } from "../../test/interaction_result.ts";
import type { HistoryGap, ScenarioHistoryGap } from "../../test/statistics.ts";
import { mean } from "../../score/mean.ts";
import { differenceInterval } from "./mean_interval.ts";

type Scored = Pick<InteractionResult, "scores">;

/**
 * Compares the turns of one scenario that were asked with both histories. A failed call counts 0. A
 * turn without a score on one side is left out.
 */
export function createScenarioGap() {
  const first = new Map<string, Scored>();
  const byScore = new Map<string, { generated: number[]; reference: number[] }>();
  const placeOf = (attempt: number, turn: number) => `${attempt}/${turn}`;

  function pair(name: string, generated: unknown, reference: unknown): void {
    if (typeof generated !== "number" || typeof reference !== "number") return;
    const pairs = byScore.getOrInsertComputed(name, () => ({ generated: [], reference: [] }));
    pairs.generated.push(generated);
    pairs.reference.push(reference);
  }

  return {
    addGenerated(attempt: number, turn: number, { scores }: Scored): void {
      first.set(placeOf(attempt, turn), { scores });
    },
    /** `attempt` is the corresponding attempt with the generated history. */
    addReference(attempt: number, turn: number, { scores }: Scored): void {
      const other = first.get(placeOf(attempt, turn));
      if (!other) return;
      for (const name in scores) pair(name, other.scores[name], scores[name]);
    },
    close(): Record<string, ScenarioHistoryGap> {
      return Object.fromEntries(
        [...byScore].map(([name, pairs]) => {
          const generated = mean(pairs.generated)!;
          const reference = mean(pairs.reference)!;
          const turns = pairs.generated.length;
          return [name, { generated, reference, gap: reference - generated, turns }];
        }),
      );
    },
  };
}

/** The gaps of a run: means over its scenarios with equal weight. */
export function createHistoryGap() {
  const byScore = new Map<string, ScenarioHistoryGap[]>();
  return {
    add(gaps: Record<string, ScenarioHistoryGap> | undefined): void {
      for (const name in gaps) {
        byScore.getOrInsertComputed(name, () => []).push(gaps[name]!);
      }
    },
    close(): Record<string, HistoryGap> | undefined {
      if (byScore.size === 0) return undefined;
      return Object.fromEntries([...byScore].map(([name, gaps]) => [name, describe(gaps)]));
    },
  };
}

function describe(scenarios: ScenarioHistoryGap[]): HistoryGap {
  const gaps = scenarios.map(({ gap }) => gap);
  return {
    scenarios: scenarios.length,
    turns: scenarios.reduce((sum, { turns }) => sum + turns, 0),
    generated: mean(scenarios.map(({ generated }) => generated))!,
    reference: mean(scenarios.map(({ reference }) => reference))!,
    gap: mean(gaps)!,
    ci95: differenceInterval(gaps),
  };
}

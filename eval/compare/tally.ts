import type { InteractionResult } from "../../shared/schemas/evaluate.ts";
import type { TurnPosition } from "../runner.ts";

/** A recorded turn, as far as comparing looks at it. */
export interface ScoredTurn extends TurnPosition {
  result: Pick<InteractionResult, "scores" | "error">;
}

/** One turn of the batch over all its attempts. */
export interface TurnTally {
  failed: number;
  /** Of the attempts that were answered and have the score. */
  scores: Map<string, { sum: number; count: number }>;
}

/** By the scenario's and the turn's position in the batch. */
export type Tally = Map<number, Map<number, TurnTally>>;

/** Reads a run's turns once and keeps sums only, whatever the number of attempts. */
export async function tallyTurns(turns: AsyncIterable<ScoredTurn>): Promise<Tally> {
  const tally: Tally = new Map();
  for await (const { scenario, turn, result } of turns) {
    const ofScenario = getOrAdd(tally, scenario, () => new Map<number, TurnTally>());
    const ofTurn = getOrAdd(ofScenario, turn, () => ({ failed: 0, scores: new Map() }));
    if (result.error) ofTurn.failed++;
    for (const [name, value] of Object.entries(result.scores)) {
      if (value === null) continue;
      const cell = getOrAdd(ofTurn.scores, name, () => ({ sum: 0, count: 0 }));
      if (result.error) continue; // named only: `turnMean` counts it as 0
      cell.sum += value;
      cell.count++;
    }
  }
  return tally;
}

/**
 * A turn's mean over its attempts; `null` where the score does not apply. A failed attempt counts 0
 * in every score that the turn has in either run: nobody gains by failing.
 */
export function turnMean(
  turn: TurnTally,
  { score, counterpart }: { score: string; counterpart: TurnTally },
): number | null {
  const own = turn.scores.get(score);
  if (own) return own.sum / (own.count + turn.failed);
  return turn.failed > 0 && counterpart.scores.has(score) ? 0 : null;
}

/** Every score that the run has anywhere, in the order in which they were first met. */
export function scoreNames(tally: Tally): Set<string> {
  const names = new Set<string>();
  for (const turns of tally.values()) {
    for (const { scores } of turns.values()) for (const name of scores.keys()) names.add(name);
  }
  return names;
}

function getOrAdd<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const found = map.get(key);
  if (found !== undefined) return found;
  const made = make();
  map.set(key, made);
  return made;
}

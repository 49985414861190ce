import { systemPromptOf } from "../schemas/scenario.ts";
import type { PlannedScenario } from "./expectations.ts";
import type { AttemptTurn, RunScores } from "./turn_scores.ts";

/** A turn of the batch that at least one attempt has reached. */
interface ReachedTurn {
  id: string;
  /** The position in its scenario, counted from 0. */
  index: number;
  user_message: string;
  /** In every attempt that has reached it. */
  attempts: AttemptTurn[];
}

/** A scenario of the batch that has results. */
export interface ReachedScenario {
  id: string;
  /** The position in the batch, counted from 0. */
  index: number;
  planned: PlannedScenario;
  turns: ReachedTurn[];
  /** Equal for scenarios with the same id that say the same: they are one scenario, listed twice. */
  fingerprint: string;
}

/** What belongs together, and what is left over on either side. */
export interface Paired<T> {
  pairs: { baseline: T; candidate: T }[];
  onlyInBaseline: T[];
  onlyInCandidate: T[];
}

/** The part of a batch that has results. `pause` is awaited after each scenario. */
export async function reachedScenarios(
  scenarios: PlannedScenario[],
  { turns, pause }: Pick<RunScores, "turns"> & { pause: () => Promise<void> },
): Promise<ReachedScenario[]> {
  const found: ReachedScenario[] = [];
  for (const [index, planned] of scenarios.entries()) {
    const { id, interactions } = planned;
    const reached = turns.get(index);
    if (!reached) continue;
    found.push({
      id,
      index,
      planned,
      turns: interactions.flatMap(({ id, user_message }, turn) => {
        const attempts = reached.get(turn);
        return attempts ? [{ id, index: turn, user_message, attempts }] : [];
      }),
      fingerprint: JSON.stringify([
        id,
        systemPromptOf(planned),
        ...(planned.prior_messages ? [planned.prior_messages] : []),
        ...interactions.map((turn) => turn.user_message),
      ]),
    });
    await pause();
  }
  return found;
}

/**
 * Scenarios of one id belong together. Ids may repeat: those that also say the same are paired
 * first, and the rest of that id in the order of their batches.
 */
export function pairScenarios(
  baseline: ReachedScenario[],
  candidate: ReachedScenario[],
): Paired<ReachedScenario> {
  return pairBy(baseline, candidate, [(scenario) => scenario.fingerprint, ({ id }) => id]);
}

/** The same rule for the turns of two scenarios that belong together. */
export function pairTurns(
  baseline: ReachedTurn[],
  candidate: ReachedTurn[],
): Paired<ReachedTurn> {
  const sayingTheSame = ({ id, user_message }: ReachedTurn) => JSON.stringify([id, user_message]);
  return pairBy(baseline, candidate, [sayingTheSame, ({ id }) => id]);
}

/** Pairs by the first key, and what is left over by the next; the baseline's order is kept. */
function pairBy<T>(
  baseline: T[],
  candidate: T[],
  keys: ((item: T) => string)[],
): Paired<T> {
  const partners = new Map<T, T>();
  const taken = new Set<T>();
  for (const key of keys) {
    const free = Map.groupBy(candidate.filter((item) => !taken.has(item)), key);
    for (const item of baseline) {
      if (partners.has(item)) continue;
      const partner = free.get(key(item))?.shift();
      if (partner === undefined) continue;
      partners.set(item, partner);
      taken.add(partner);
    }
  }
  return {
    pairs: baseline.filter((item) => partners.has(item))
      .map((item) => ({ baseline: item, candidate: partners.get(item)! })),
    onlyInBaseline: baseline.filter((item) => !partners.has(item)),
    onlyInCandidate: candidate.filter((item) => !taken.has(item)),
  };
}

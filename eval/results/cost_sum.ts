import { withoutNoise } from "../../shared/rounding.ts";
import { Cost, type CostSum } from "../schemas/cost.ts";
import type { InteractionResult } from "../schemas/interaction_result.ts";

type Origin = Pick<InteractionResult, "copied_from_run" | "reply_from_run">;

/** False if the run that this one retries asked the turn, and paid for it. */
export function isAskedHere({ copied_from_run, reply_from_run }: Origin): boolean {
  return copied_from_run === undefined && reply_from_run === undefined;
}

/** False if the run that this one retries scored the turn. */
export function isScoredHere({ copied_from_run }: Origin): boolean {
  return copied_from_run === undefined;
}

/**
 * Adds up the costs of turns. A cost that is not known (`null`) is counted, and so is one in another
 * currency than the first: sums of different currencies would mean nothing.
 */
export function createCostSum() {
  const sum: CostSum = { amount: null, currency: null, turns: 0, unknown: 0 };
  let elsewhere: string | undefined;
  return {
    /** `undefined`: there were no prices. A caller's own field of this name is no cost. */
    add(cost: Cost | null | undefined): void {
      if (cost === undefined || (cost !== null && !Cost.safeParse(cost).success)) return;
      sum.currency ??= cost?.currency ?? null;
      if (cost === null || cost.currency !== sum.currency) {
        sum.unknown++;
        return;
      }
      sum.amount = (sum.amount ?? 0) + cost.amount;
      sum.turns++;
    },
    /** A cost that another run has paid: it adds nothing. */
    addElsewhere(cost: Cost | null | undefined): void {
      elsewhere ??= cost?.currency;
    },
    /** The sum by its name; nothing if there were no prices, and 0 if others have paid everything. */
    report<Name extends string>(name: Name): Partial<Record<Name, CostSum>> {
      const amount = sum.amount && withoutNoise(sum.amount);
      if (sum.turns + sum.unknown > 0) {
        return { [name]: { ...sum, amount } } as Record<Name, CostSum>;
      }
      if (elsewhere === undefined) return {};
      return { [name]: { ...sum, amount: 0, currency: elsewhere } } as Record<Name, CostSum>;
    },
  };
}

/** The sum of sums, by the same rules; `undefined` if there is none. */
export function addCosts(sums: (CostSum | undefined)[]): CostSum | undefined {
  const all = sums.filter((sum) => sum !== undefined);
  if (all.length === 0) return undefined;
  const currency = all.find((sum) => sum.currency !== null)?.currency ?? null;
  const isCounted = (sum: CostSum) => sum.amount !== null && sum.currency === currency;
  const counted = all.filter(isCounted);
  return {
    amount: counted.length === 0
      ? null
      : withoutNoise(counted.reduce((total, sum) => total + sum.amount!, 0)),
    currency,
    turns: counted.reduce((total, { turns }) => total + turns, 0),
    unknown: all.reduce(
      (total, sum) => total + sum.unknown + (isCounted(sum) ? 0 : sum.turns),
      0,
    ),
  };
}

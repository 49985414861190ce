import { AsyncLocalStorage } from "node:async_hooks";
import { withoutNoise } from "../../../shared/rounding.ts";
import type { Cost, Price } from "../../schemas/cost.ts";
import { costOf } from "../../endpoint/prices.ts";
import type { JudgeModel } from "./model.ts";

/** What the judge's calls for one turn have cost so far; `null` if that is not known of one. */
interface Meter {
  calls: number;
  cost: Cost | null;
}

/** The meter of the turn that is being scored: votes, labels and criteria are asked side by side. */
const current = new AsyncLocalStorage<Meter>();

/** The same judge, whose calls are counted by `meterJudge`. */
export function priceJudge(judge: JudgeModel, price: Price | undefined): JudgeModel {
  return {
    ...judge,
    isPriced: true,
    async ask(question, signal) {
      const answer = await judge.ask(question, signal);
      const meter = current.getStore();
      if (meter) count(meter, costOf(price, answer.tokens ?? null));
      return answer;
    },
  };
}

/** Calls that failed, and those that were remembered, cost nothing. */
function count(meter: Meter, cost: Cost | null): void {
  const before = meter.calls++ === 0 ? { amount: 0, currency: cost?.currency ?? "" } : meter.cost;
  meter.cost = before && cost && { ...cost, amount: withoutNoise(before.amount + cost.amount) };
}

/** Does some work; `cost` is what the judge's calls in it cost, unset if there were none. */
export async function meterJudge<T>(
  work: () => Promise<T>,
): Promise<{ value: T; cost?: Cost | null }> {
  const meter: Meter = { calls: 0, cost: null };
  const value = await current.run(meter, work);
  return { value, ...(meter.calls > 0 && { cost: meter.cost }) };
}

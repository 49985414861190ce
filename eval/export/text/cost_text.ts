import { counted } from "../../../shared/counted.ts";
import type { CostSum } from "../../schemas/cost.ts";

/** An amount of money for people, and how much of it is not known. */
export function showCost({ amount, currency, unknown }: CostSum): string {
  const known = amount === null ? "unknown" : `${roundAmount(amount)} ${currency}`;
  return amount === null || unknown === 0
    ? known
    : `${known}, and ${counted(unknown, "turn")} of unknown cost`;
}

/** Four digits that say something; of large amounts also the hundredths. */
function roundAmount(amount: number): number {
  return Number(amount < 100 ? amount.toPrecision(4) : amount.toFixed(2));
}

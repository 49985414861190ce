import type { Price } from "../../shared/schemas/cost.ts";
import { costOf } from "./prices.ts";
import type { Target } from "./target.ts";

/** The same target, whose replies say what they cost; `null` if the model has no price. */
export function priceTarget(target: Target, price: Price | undefined): Target {
  return {
    isPriced: true,
    async ask(conversation, signal) {
      const reply = await target.ask(conversation, signal);
      const { usage, cachedInputTokens: cachedInput } = reply;
      const tokens = usage &&
        { input: usage.input_tokens, output: usage.output_tokens, cachedInput };
      return { ...reply, cost: costOf(price, tokens) };
    },
  };
}

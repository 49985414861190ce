import { withoutNoise } from "../test/rounding.ts";
import type { Cost, Price } from "../test/cost.ts";
import type { Target } from "./target.ts";

/** The tokens of one call; `cachedInput` is a part of `input`. */
export interface PricedTokens {
  input: number;
  cachedInput?: number | undefined;
  output: number;
}

const MILLION = 1_000_000;

/**
 * The price of a model: that of its own name, or of the longest pattern that fits. `*` stands for any
 * text. `undefined` if there is none.
 */
export function findPrice(prices: Record<string, Price>, model: string): Price | undefined {
  if (Object.hasOwn(prices, model)) return prices[model];
  const fitting = Object.keys(prices).filter((pattern) => fits(pattern, model));
  const [longest] = fitting.sort((a, b) => b.length - a.length);
  return longest === undefined ? undefined : prices[longest];
}

function fits(pattern: string, model: string): boolean {
  return new RegExp(`^${pattern.split("*").map(RegExp.escape).join(".*")}$`, "s").test(model);
}

/** What a call costs; `null` if the model has no price or the tokens are not known. */
export function costOf(price: Price | undefined, tokens: PricedTokens | null): Cost | null {
  if (!price || !tokens || tokens.input + tokens.output <= 0) return null; // nothing was counted
  const { input, cached_input = input, output, currency } = price;
  const cached = Math.min(tokens.cachedInput ?? 0, tokens.input);
  const amount = (tokens.input - cached) * input + cached * cached_input + tokens.output * output;
  return { amount: withoutNoise(amount / MILLION), currency };
}

/** A target whose replies say what they cost; `null` if the model has no price. */
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

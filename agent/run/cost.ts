import { type Fields, isFields } from "../../shared/fields.ts";
import type { ChatUsage } from "../../shared/providers/provider.ts";

/** What a run has cost so far, over all its model calls. Times are in milliseconds. */
export interface RunCost {
  modelCalls: number;
  toolCalls: number;
  inputTokens: number;
  outputTokens: number;
  /** Parts of the tokens, by the provider's names: `cached_tokens`, `reasoning_tokens`. */
  inputDetails: Record<string, number>;
  outputDetails: Record<string, number>;
  /** Further fields of the usage, by the provider's names: `cost`. */
  usageExtra: Fields;
  modelMs: number;
  toolMs: number;
}

export const NO_COST: RunCost = {
  modelCalls: 0,
  toolCalls: 0,
  inputTokens: 0,
  outputTokens: 0,
  inputDetails: {},
  outputDetails: {},
  usageExtra: {},
  modelMs: 0,
  toolMs: 0,
};

/** Adds one model call. */
export function addModelCall(
  cost: RunCost,
  { usage, ms }: { usage: ChatUsage | null; ms: number },
): RunCost {
  return {
    ...cost,
    modelCalls: cost.modelCalls + 1,
    modelMs: cost.modelMs + ms,
    ...(usage && {
      inputTokens: cost.inputTokens + usage.promptTokens,
      outputTokens: cost.outputTokens + usage.completionTokens,
      inputDetails: addCounts(cost.inputDetails, usage.promptDetails),
      outputDetails: addCounts(cost.outputDetails, usage.completionDetails),
      usageExtra: addCounts(cost.usageExtra, usage.extra),
    }),
  };
}

/** Adds the tool calls of one turn. */
export function addToolCalls(
  cost: RunCost,
  { count, ms }: { count: number; ms: number },
): RunCost {
  return { ...cost, toolCalls: cost.toolCalls + count, toolMs: cost.toolMs + ms };
}

/** Adds the numbers of two objects, also of nested ones. Of other values the last one counts. */
function addCounts<Counts extends Fields>(total: Counts, more: Counts | null | undefined): Counts {
  if (!more) return total;
  const sum: Fields = { ...total };
  for (const [name, value] of Object.entries(more)) {
    const before = sum[name];
    if (typeof before === "number" && typeof value === "number") {
      sum[name] = Number((before + value).toPrecision(12)); // 0.1 + 0.2 is 0.3
    } else if (isFields(before) && isFields(value)) sum[name] = addCounts(before, value);
    else sum[name] = value;
  }
  return sum as Counts;
}

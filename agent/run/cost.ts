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
      inputDetails: addDetails(cost.inputDetails, usage.promptDetails),
      outputDetails: addDetails(cost.outputDetails, usage.completionDetails),
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

function addDetails(total: Record<string, number>, more: Record<string, number> | null) {
  if (!more) return total;
  const sum = { ...total };
  for (const [name, count] of Object.entries(more)) sum[name] = (sum[name] ?? 0) + count;
  return sum;
}

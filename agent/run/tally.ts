/** What a run has cost so far, over all its model calls. */
export interface Tally {
  modelCalls: number;
  toolCalls: number;
  inputTokens: number;
  outputTokens: number;
  /** Time waited for the model and for the tools, in milliseconds. */
  modelMs: number;
  toolMs: number;
}

export const NO_COST: Tally = {
  modelCalls: 0,
  toolCalls: 0,
  inputTokens: 0,
  outputTokens: 0,
  modelMs: 0,
  toolMs: 0,
};

export function addCost(tally: Tally, cost: Partial<Tally>): Tally {
  return {
    modelCalls: tally.modelCalls + (cost.modelCalls ?? 0),
    toolCalls: tally.toolCalls + (cost.toolCalls ?? 0),
    inputTokens: tally.inputTokens + (cost.inputTokens ?? 0),
    outputTokens: tally.outputTokens + (cost.outputTokens ?? 0),
    modelMs: tally.modelMs + (cost.modelMs ?? 0),
    toolMs: tally.toolMs + (cost.toolMs ?? 0),
  };
}

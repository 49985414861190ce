import type { EvaluateRequest } from "../../schemas/evaluate_request.ts";
import type { InteractionResult } from "../../schemas/interaction_result.ts";

/** Counts what a run spends against its `budget`. */
export interface Budget {
  /** Counts a reply when it arrives: the next question is asked before it is scored. */
  addReply(reply: Pick<InteractionResult, "usage" | "cost">): void;
  addJudge(cost: InteractionResult["judge_cost"]): void;
  /** Counts a turn that an earlier process stored. */
  addStored(result: InteractionResult): void;
  /** Why the run asks nothing more; `undefined` as long as it may. */
  spent(): string | undefined;
}

export function createBudget({ budget = {} }: Pick<EvaluateRequest, "budget">): Budget {
  let tokens = 0;
  let cost = 0;
  let unknown: string | undefined;

  function addReply(reply: Pick<InteractionResult, "usage" | "cost">): void {
    tokens += reply.usage?.total_tokens ?? 0;
    cost += reply.cost?.amount ?? 0;
    if (budget.tokens !== undefined && !reply.usage) {
      unknown = "the endpoint does not report tokens";
    }
    if (budget.cost !== undefined && !reply.cost) {
      unknown = "the model has no price (PRICES), or the endpoint does not report tokens";
    }
  }

  const addJudge: Budget["addJudge"] = (judgeCost) => void (cost += judgeCost?.amount ?? 0);

  return {
    addReply,
    addJudge,
    addStored(result) {
      if (result.copied_from_run !== undefined) return; // it was paid for there
      if (!result.error) addReply(result);
      addJudge(result.judge_cost);
    },
    spent() {
      if (unknown) return `its budget cannot be kept: ${unknown}`;
      if (budget.tokens !== undefined && tokens >= budget.tokens) {
        return `its budget of ${budget.tokens} tokens is spent (${tokens})`;
      }
      if (budget.cost !== undefined && cost >= budget.cost) {
        return `its budget of ${budget.cost} is spent (${Number(cost.toFixed(6))})`;
      }
    },
  };
}

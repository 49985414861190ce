import type { EvaluateRequest } from "../../eval/test/evaluate_request.ts";
import type { InteractionResult } from "../../eval/test/interaction_result.ts";
import type { StoredTurn, TurnText } from "../../eval/store/turn_record.ts";
import { interaction, scenario } from "./eval_ports.ts";

/** A request of `scenarios` conversations with `turns` turns each. */
export function evaluateRequest(
  { scenarios = 1, turns = 1, attempts = 1, ...fields }: {
    scenarios?: number;
    turns?: number;
  } & Partial<EvaluateRequest> = {},
): EvaluateRequest {
  return {
    test_batch: Array.from({ length: scenarios }, (_, s) =>
      scenario(
        `scenario ${s}`,
        Array.from({ length: turns }, (_, t) => interaction(`${s}.${t}`)),
      )),
    endpoint: "http://127.0.0.1:9/v1",
    model_id: "a/model",
    attempts,
    parameters: {},
    ...fields,
  };
}

export function storedTurn(
  [scenario, attempt, turn]: [number, number, number],
  fields: Partial<InteractionResult> = {},
): StoredTurn {
  return {
    scenario,
    attempt,
    turn,
    tookMs: 7,
    result: {
      ...interaction(`${scenario}.${turn}`),
      reference_reply: "",
      agent_reply: `reply ${scenario}.${attempt}.${turn}`,
      scores: { overall: 1 },
      latency_ms: 5,
      usage: null,
      ...fields,
    },
  };
}

/** A turn as it lies in a store. */
export function toTurnText({ scenario, attempt, turn, tookMs, result }: StoredTurn): TurnText {
  return { scenario, attempt, turn, tookMs, resultJson: JSON.stringify(result) };
}

export const failure = { code: "provider_error", status: 500, detail: "the endpoint answered 500" };

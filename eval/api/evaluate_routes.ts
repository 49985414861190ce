import { z } from "zod";
import type { Route } from "../../shared/http/router.ts";
import { jsonAnswer } from "../../shared/ops/api_description.ts";
import { evaluateRequest, EvaluateResponse } from "../../shared/schemas/evaluate.ts";
import type { ScoringPorts } from "../assess/assessor.ts";
import { describeScores } from "../assess/scores/scorers.ts";
import { pairScorers } from "../assess/scores/mod.ts";
import { runSelfTest } from "../assess/scores/self_test.ts";
import { createEvaluateRoute, type EvaluateRouteDeps } from "../run/evaluate_route.ts";

const EXAMPLE = {
  test_batch: {
    id: "greeting",
    interactions: [{
      id: "1",
      user_message: "Hello!",
      reference_reply: "Hello, how can I help?",
      reference_metadata: { intent: "greeting" },
    }],
  },
  endpoint: "http://127.0.0.1:8000",
  model_id: "demo/assistant",
  attempts: 2,
};

/** The routes that evaluate, and that explain the scores. */
export function createEvaluateRoutes(
  deps: EvaluateRouteDeps & { scoring: ScoringPorts },
): Route[] {
  let selfTest: ReturnType<typeof runSelfTest> | undefined; // once: it takes time, and never changes
  return [
    {
      method: "POST",
      path: "/evaluate",
      summary: "Run a test batch against a model endpoint",
      params: {
        header: z.object({
          prefer: z.string().optional().meta({ description: "`respond-async`: 202 at once." }),
          "idempotency-key": z.string().optional(),
        }),
      },
      body: { schema: evaluateRequest(Number.MAX_SAFE_INTEGER), example: EXAMPLE },
      answers: {
        200: jsonAnswer(
          "The scored run; as events where `accept` asks for them.",
          EvaluateResponse,
        ),
        202: jsonAnswer(
          "The run goes on by itself.",
          z.object({ run_id: z.string(), status: z.string() }),
        ),
      },
      problems: {
        403: "`endpoint_not_allowed`, `forbidden_origin`, `forbidden_host`",
        422: "`idempotency_key_reused`: the key came with another body before",
        503: "`shutting_down`, `overloaded`, `storage_busy`",
        507: "`storage_full`",
      },
      handler: createEvaluateRoute(deps),
    },
    {
      method: "GET",
      path: "/scores",
      summary: "Every score: its definition, range and method",
      answers: {
        200: jsonAnswer(
          "The scores.",
          z.object({ scores: z.array(z.looseObject({ name: z.string() })) }),
        ),
      },
      handler: () => Response.json({ scores: describeScores(deps.scoring) }),
    },
    {
      method: "GET",
      path: "/scores/self-test",
      summary: "The scores against their reference implementations' values",
      answers: { 200: jsonAnswer("What came of it.", z.looseObject({})) },
      handler: () => Response.json(selfTest ??= runSelfTest(pairScorers)),
    },
  ];
}

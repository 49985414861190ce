import { z } from "zod";
import { runsApi } from "./openapi_runs.ts";
import {
  type ApiDescription,
  BODY_PROBLEMS,
  jsonAnswer,
  problems,
} from "../../shared/ops/api_description.ts";
import { evaluateRequest, EvaluateResponse } from "../../shared/schemas/evaluate.ts";

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

/** What `/openapi.json` says of the evaluation service. */
export const evalApi: ApiDescription = {
  title: "assay-eval",
  description: "Has test conversations with a model and scores its replies.",
  routes: {
    "GET /": {
      summary: "What the service is",
      responses: { 200: jsonAnswer("Its name and routes.", z.looseObject({ name: z.string() })) },
    },
    "POST /evaluate": {
      summary: "Run a test batch against a model endpoint",
      requestParams: {
        header: z.object({
          prefer: z.string().optional().meta({ description: "`respond-async`: 202 at once." }),
          "idempotency-key": z.string().optional(),
        }),
      },
      requestBody: {
        required: true,
        content: {
          "application/json": {
            schema: evaluateRequest(Number.MAX_SAFE_INTEGER),
            example: EXAMPLE,
          },
        },
      },
      responses: {
        200: jsonAnswer(
          "The scored run; as events where `accept` asks for them.",
          EvaluateResponse,
        ),
        202: jsonAnswer(
          "The run goes on by itself.",
          z.object({ run_id: z.string(), status: z.string() }),
        ),
        ...BODY_PROBLEMS,
        ...problems({
          403: "`endpoint_not_allowed`, `forbidden_origin`, `forbidden_host`",
          422: "`idempotency_key_reused`: the key came with another body before",
          503: "`shutting_down`, `overloaded`, `storage_busy`",
          507: "`storage_full`",
        }),
      },
    },
    "GET /scores": {
      summary: "Every score: its definition, range and method",
      responses: {
        200: jsonAnswer(
          "The scores.",
          z.object({ scores: z.array(z.looseObject({ name: z.string() })) }),
        ),
      },
    },
    "GET /scores/self-test": {
      summary: "The scores against their reference implementations' values",
      responses: { 200: jsonAnswer("What came of it.", z.looseObject({})) },
    },
    ...runsApi,
  },
};

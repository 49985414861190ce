import { z } from "zod";
import { readQuery } from "../../shared/http/body.ts";
import type { Route } from "../../shared/http/router.ts";
import { serviceUrls } from "../../shared/service/config.ts";
import { jsonAnswer, orEvents } from "../../shared/service/ops/api_description.ts";
import {
  Endpoint,
  evaluateRequest,
  EvaluateTarget,
  MAX_TARGETS,
  ModelId,
} from "../test/evaluate_request.ts";
import { EvaluateAnswer } from "../test/evaluate_response.ts";
import { EndpointModels, type ListEndpointModels } from "../ask/endpoint_models.ts";
import type { ScoringPorts } from "../score/scoring_ports.ts";
import type { runSelfTest } from "../score/self_test.ts";
import { createEvaluateRoute, EvaluateQuery, type EvaluateRouteDeps } from "./evaluate_route.ts";
import { Comparison, GroupState } from "../figures/compare_stored.ts";
import { GROUP_EVENTS, RUN_EVENTS, RunLocation, RunState } from "./schemas/run_schemas.ts";
import { CALL_PROBLEMS, idempotencyKey, WRITE_PROBLEMS } from "./route_parts.ts";

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
  model_id: "demo/assistant",
  attempts: 2,
};

/** Without the bound on `attempts`, which is configured. It has a batch or names a dataset. */
const { rescored: _, ...shape } = evaluateRequest(Number.MAX_SAFE_INTEGER).shape;
const EvaluateRequestBody = z.looseObject({
  ...shape,
  test_batch: shape.test_batch.optional().meta({
    description: "A scenario, or a list of them. Required unless `dataset` is sent.",
  }),
  dataset: z.string().optional().meta({
    description: "`name`, or `name@version`: a stored dataset instead of `test_batch`.",
  }),
  endpoint: Endpoint.optional().meta({
    description: "An OpenAI-compatible base URL, a full `…/chat/completions` URL, or an agent " +
      "such as assay-agent. Required unless `targets` is sent, or every interaction has its " +
      "`agent_reply`: then these are scored, and nobody is asked.",
  }),
  model_id: ModelId.optional().meta({
    description: "The model at that endpoint. Required unless `model_ids` or `targets` is sent.",
  }),
  model_ids: z.array(ModelId).min(1).max(MAX_TARGETS).optional().meta({
    description: "Several models of the endpoint, each in a run of its own, as one group.",
  }),
  targets: z.array(EvaluateTarget).min(1).max(MAX_TARGETS).optional().meta({
    description: "The same for models at several endpoints.",
  }),
})
  .meta({ id: "EvaluateRequest" });

const ModelsQuery = z.object({
  endpoint: Endpoint.meta({ description: "The same as in `POST /evaluate`." }),
});

/** The routes that evaluate, and that explain the scores. */
export function createEvaluateRoutes(
  deps: EvaluateRouteDeps & { scoring: ScoringPorts; listModels: ListEndpointModels },
): Route[] {
  let selfTest: ReturnType<typeof runSelfTest> | undefined; // once: it takes time, and never changes
  return [
    {
      method: "POST",
      path: "/evaluate",
      summary: "Run a test batch against a model endpoint",
      params: {
        query: EvaluateQuery,
        header: idempotencyKey.extend({
          prefer: z.string().optional().meta({ description: "`respond-async`: 202 at once." }),
        }),
      },
      body: {
        schema: EvaluateRequestBody,
        example: { ...EXAMPLE, endpoint: serviceUrls(deps.config).agent },
      },
      answers: {
        200: orEvents(
          jsonAnswer(
            "The scored run, or the comparison of several models; as events if `accept` prefers them.",
            z.union([EvaluateAnswer, Comparison]),
            { location: RunLocation },
          ),
          `${RUN_EVENTS} With several models: ${GROUP_EVENTS}`,
        ),
        202: jsonAnswer("The run continues without a client.", z.union([RunState, GroupState]), {
          location: RunLocation,
          "preference-applied": z.string(),
        }),
      },
      problems: {
        ...CALL_PROBLEMS,
        409:
          "`conflict`: the run was cancelled or deleted, or it failed, so that there is no result",
        ...WRITE_PROBLEMS,
      },
      handler: createEvaluateRoute(deps),
    },
    {
      method: "GET",
      path: "/models",
      summary: "The models that an endpoint offers",
      otherSites: false, // it sends the credential to an address of the caller's choice
      index: { query: "endpoint={url}" },
      params: { query: ModelsQuery },
      answers: {
        200: jsonAnswer(
          "The models in the endpoint's order; none if it has no list.",
          EndpointModels,
        ),
      },
      problems: {
        400: "`invalid_request`: a parameter does not fit",
        403: "`endpoint_not_allowed`; `forbidden_origin` if a page of another site asks",
        502: "`provider_error`: the endpoint cannot be reached",
      },
      handler: async (request, { url }) => {
        const { endpoint } = readQuery(url, ModelsQuery);
        return Response.json(await deps.listModels(endpoint, request.signal));
      },
    },
    {
      method: "GET",
      path: "/scores",
      summary: "Every score: its definition, range and method",
      answers: {
        200: jsonAnswer("The scores.", ScoreList),
      },
      async handler() {
        const { describeScores } = await import("../score/scorers.ts");
        return Response.json({ scores: describeScores(deps.scoring) });
      },
    },
    {
      method: "GET",
      path: "/scores/self-test",
      summary: "The scores against their reference implementations' values",
      answers: {
        200: jsonAnswer(
          "How far each score deviates from its reference implementation.",
          SelfTestReport,
        ),
      },
      async handler() {
        const { pairScorers } = await import("../score/pair_scorers.ts");
        const { runSelfTest } = await import("../score/self_test.ts");
        return Response.json(selfTest ??= runSelfTest(pairScorers));
      },
    },
  ];
}

const ScoreList = z.object({
  scores: z.array(
    z.looseObject({
      name: z.string(),
      definition: z.string(),
      range: z.tuple([z.number(), z.number()]),
      method: z.string(),
      equals: z.string().optional().meta({
        description: "The implementation whose values it reproduces.",
      }),
      limits: z.string().optional().meta({ description: "What the score cannot tell." }),
    }).meta({ id: "ScoreDescription" }),
  ),
}).meta({ id: "ScoreList" });

const SelfTestReport = z.object({
  passed: z.boolean(),
  pairs: z.int(),
  tolerance: z.number(),
  largest_deviation: z.number(),
  scores: z.record(
    z.string(),
    z.object({
      compared: z.int(),
      left_out: z.int(),
      largest_deviation: z.number().nullable(),
      note: z.string().optional(),
    }).meta({ id: "ScoreReplay" }),
  ),
  left_out: z.array(
    z.object({
      scores: z.array(z.string()),
      reason: z.string(),
      pairs: z.array(z.object({ reply: z.string(), reference: z.string() })),
    }).meta({ id: "LeftOutPairs" }),
  ),
}).meta({ id: "SelfTestReport" });

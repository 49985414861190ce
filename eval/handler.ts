import { readJson } from "../shared/http/body.ts";
import { streamJson } from "../shared/http/json_stream.ts";
import type { Service } from "../shared/http/router.ts";
import { createService } from "../shared/http/service.ts";
import type { Logger } from "../shared/log.ts";
import { type EvaluateRequest, evaluateRequest } from "../shared/schemas/evaluate.ts";
import { createAssessor, type ScoringPorts } from "./assessor.ts";
import type { EvalConfig } from "./config.ts";
import type { EndpointPolicy } from "./endpoint_policy.ts";
import { type Recorder, type RunPorts, runScenarios, type Target } from "./runner.ts";
import { describeScores } from "./scores/descriptions.ts";
import { pairScorers } from "./scores/mod.ts";
import { runSelfTest } from "./scores/self_test.ts";
import { summarise } from "./summary.ts";

/** Everything the outside world supplies. */
export interface EvalDeps {
  config: EvalConfig;
  log: Logger;
  endpoints: EndpointPolicy;
  /** The model under test, with the credential that goes to its endpoint. */
  connect: (request: EvaluateRequest, credential: string | undefined) => Target;
  /** The process's places for conversations. */
  slot: RunPorts["slot"];
  scoring: ScoringPorts;
  recorder?: Recorder;
}

/** How deep a result is streamed: down to `results.scenarios[].attempts[]`, each as one piece. */
const RESULT_DEPTH = 5;

/** The evaluation service's routes. */
export function createEvalHandler(deps: EvalDeps): Service {
  const { config, log, endpoints, connect, slot, scoring, recorder } = deps;
  const Body = evaluateRequest(config.EVAL_MAX_ATTEMPTS);

  return createService({
    "GET /": () =>
      Response.json({
        name: "assay-eval",
        about: "Has a test conversation with a model and scores its replies.",
        endpoints: {
          "POST /evaluate": "run a test batch against a model endpoint",
          "GET /scores": "every score: its definition, range and method",
          "GET /scores/self-test": "the scores against their reference implementations' values",
        },
      }),

    "GET /scores": () => Response.json({ scores: describeScores(scoring) }),

    "GET /scores/self-test": () => Response.json(runSelfTest(pairScorers)),

    "POST /evaluate": async (request, context) => {
      const body = await readJson(request, Body, { maxBytes: config.MAX_BODY_BYTES });
      endpoints.requireAllowed(body.endpoint);
      context.fields.model = body.model_id;
      const results = await runScenarios({ scenarios: body.test_batch, attempts: body.attempts }, {
        target: connect(body, endpoints.credentialFor(body.endpoint)),
        assessor: createAssessor(body, { ports: scoring, signal: request.signal }),
        slot,
        concurrency: config.EVAL_CONCURRENCY,
        signal: request.signal,
        ...(recorder && { recorder }),
      });
      const result = await summarise(body, results);
      context.fields.outcome = result.message;
      return streamJson(result, { depth: RESULT_DEPTH });
    },
  }, { config, log });
}

import type { Service } from "../shared/http/router.ts";
import { createService } from "../shared/http/service.ts";
import type { Logger } from "../shared/log.ts";
import type { Operations } from "../shared/ops/operations.ts";
import type { ScoringPorts } from "./assess/assessor.ts";
import { createCompareRoute } from "./compare/compare_route.ts";
import type { EvalConfig } from "./config.ts";
import type { EndpointPolicy } from "./endpoint/policy.ts";
import { createExportRoute } from "./export/export_route.ts";
import { createEvaluateRoute } from "./run/evaluate_route.ts";
import type { RunManager } from "./run/manager.ts";
import { createRunRoutes } from "./run/routes.ts";
import { describeScores } from "./assess/scores/descriptions.ts";
import { pairScorers } from "./assess/scores/mod.ts";
import { runSelfTest } from "./assess/scores/self_test.ts";
import type { RunStore } from "./store/store.ts";

/** Everything the outside world supplies. */
export interface EvalDeps {
  config: EvalConfig;
  log: Logger;
  endpoints: EndpointPolicy;
  store: RunStore;
  runs: RunManager;
  operations?: Operations;
  scoring: ScoringPorts;
}

/** The evaluation service's routes. */
export function createEvalHandler(deps: EvalDeps): Service {
  let selfTest: ReturnType<typeof runSelfTest> | undefined; // once: it takes time, and never changes
  return createService({
    "GET /": () =>
      Response.json({
        name: "assay-eval",
        about: "Has a test conversation with a model and scores its replies.",
        endpoints: {
          "POST /evaluate": "run a test batch against a model endpoint",
          "GET /scores": "every score: its definition, range and method",
          "GET /scores/self-test": "the scores against their reference implementations' values",
          "GET /runs": "the runs, newest first",
          "GET /runs/{id}": "one run, and its result when there is one",
          "GET /runs/compare?baseline={id}&candidate={id}":
            "whether one run is better than another",
          "GET /runs/{id}/export?format=json|jsonl|csv|junit|markdown": "one run as a file",
          "GET /runs/{id}/events": "what happens in a run, as server-sent events",
          "POST /runs/{id}/cancel": "end a run and keep what is finished",
          "POST /runs/{id}/retry": "ask again what failed, as a new run",
          "DELETE /runs/{id}": "delete a run",
        },
      }),
    "POST /evaluate": createEvaluateRoute(deps),
    "GET /scores": () => Response.json({ scores: describeScores(deps.scoring) }),
    "GET /scores/self-test": () => Response.json(selfTest ??= runSelfTest(pairScorers)),
    "GET /runs/compare": createCompareRoute(deps), // before `/runs/:id`, which it would match
    "GET /runs/:id/export": createExportRoute(deps),
    ...createRunRoutes(deps),
  }, deps);
}

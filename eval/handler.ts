import type { RateLimiter } from "../shared/http/router/rate_limit.ts";
import type { Service } from "../shared/http/router/router.ts";
import { createService } from "../shared/http/server/service.ts";
import type { Logger } from "../shared/log.ts";
import { createIndexRoute, type Operations } from "../shared/ops/operations_routes.ts";
import { createDatasetRoutes } from "./api/dataset_routes.ts";
import { createEvaluateRoutes } from "./api/evaluate_routes.ts";
import { createGradeRoutes } from "./api/grade_routes.ts";
import { createCompareRoutes } from "./api/compare_routes.ts";
import { createTurnRoutes } from "./api/turn_routes.ts";
import { createLeakRoutes } from "./api/leak_routes.ts";
import { createNoiseRoutes } from "./api/noise_routes.ts";
import { createRunRoutes } from "./api/run_routes.ts";
import type { ScoringPorts } from "./assess/scoring_ports.ts";
import type { EvalConfig } from "./config.ts";
import type { ListEndpointModels } from "./endpoint/endpoint_models.ts";
import type { EndpointPolicy } from "./endpoint/policy.ts";
import { createEvaluateGroup } from "./api/evaluate_group.ts";
import { createComparer } from "./compare/compare_stored.ts";
import { documents } from "./api/documents.ts";
import { dashboardPage } from "./pages/page.ts";
import { createSummaries } from "./results/summaries.ts";
import type { RunManager } from "./run/manager/manager.ts";
import { createRunViewer } from "./run/events/view.ts";
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
  listModels: ListEndpointModels;
  limiter?: RateLimiter | undefined;
}

const about = {
  name: "assay-eval",
  description: "Runs test conversations against a model and scores its replies.",
};

/** The evaluation service: its own routes, and those for operators. */
export function createEvalHandler(given: EvalDeps): Service {
  const deps = { ...given, bodyLimits: { maxBytes: given.config.MAX_BODY_BYTES } };
  const summaries = createSummaries(deps.store);
  const comparer = createComparer({
    store: deps.store,
    view: createRunViewer(deps),
    summarise: summaries.summary,
  });
  const beginGroup = createEvaluateGroup({ ...deps, comparer });
  const routes = [
    ...createEvaluateRoutes({ ...deps, beginGroup }),
    ...createRunRoutes({ ...deps, summaries, comparer }),
    ...createTurnRoutes({ ...deps, summaries }),
    ...createCompareRoutes({ ...deps, comparer }),
    ...createNoiseRoutes(deps),
    ...createGradeRoutes(deps),
    ...createDatasetRoutes(deps),
    ...createLeakRoutes(deps),
  ];
  const index = createIndexRoute(about, { routes });
  return createService([index, ...routes], { ...deps, about, page: dashboardPage, documents });
}

import type { RateLimiter } from "../shared/http/rate_limit.ts";
import type { Service } from "../shared/http/router.ts";
import { createService } from "../shared/http/service.ts";
import type { Logger } from "../shared/service/log.ts";
import { createIndexRoute, type Operations } from "../shared/service/ops/operations_routes.ts";
import { createDatasetRoutes } from "./http/dataset_routes.ts";
import { createEvaluateRoutes } from "./http/evaluate_routes.ts";
import { createGradeRoutes } from "./http/grade_routes.ts";
import { createCompareRoutes } from "./http/compare_routes.ts";
import { createTurnRoutes } from "./http/turn_routes.ts";
import { createLeakRoutes } from "./http/leak_routes.ts";
import { createRunRoutes } from "./http/run_routes.ts";
import type { ScoringPorts } from "./score/scoring_ports.ts";
import type { EvalConfig } from "./config.ts";
import type { ListEndpointModels } from "./ask/endpoint_models.ts";
import type { EndpointPolicy } from "./ask/policy.ts";
import { createEvaluateGroup } from "./http/evaluate_group.ts";
import { createComparer } from "./figures/compare_stored.ts";
import { documents } from "./http/documents.ts";
import { dashboardPage } from "./pages/page.ts";
import { createSummaries } from "./figures/summaries.ts";
import type { RunManager } from "./run/manager.ts";
import { createRunViewer } from "./run/view.ts";
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
    ...createGradeRoutes(deps),
    ...createDatasetRoutes(deps),
    ...createLeakRoutes(deps),
  ];
  const index = createIndexRoute(about, { routes });
  return createService([index, ...routes], { ...deps, about, page: dashboardPage, documents });
}

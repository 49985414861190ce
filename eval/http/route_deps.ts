import type { RateLimiter } from "../../shared/http/rate_limit.ts";
import type { Logger } from "../../shared/service/log.ts";
import type { Operations } from "../../shared/service/ops/operations_routes.ts";
import type { ListEndpointModels } from "../ask/endpoint_models.ts";
import type { EndpointPolicy } from "../ask/policy.ts";
import type { EvalConfig } from "../config.ts";
import type { RunManager } from "../run/manager.ts";
import type { ScoringPorts } from "../score/scoring_ports.ts";
import type { RunStore } from "../store/store.ts";
import { createComparer } from "../figures/compare_stored.ts";
import { createSummaries } from "../figures/summaries.ts";
import { createRunViewer } from "../run/view.ts";
import { createEvaluateGroup } from "./evaluate_group.ts";

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

/** What the tables of routes share. */
export function createRouteDeps(given: EvalDeps) {
  const deps = { ...given, bodyLimits: { maxBytes: given.config.MAX_BODY_BYTES } };
  const summaries = createSummaries(deps.store);
  const comparer = createComparer({
    store: deps.store,
    view: createRunViewer(deps),
    summarise: summaries.summary,
  });
  return { ...deps, summaries, comparer, beginGroup: createEvaluateGroup({ ...deps, comparer }) };
}

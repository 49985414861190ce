import type { Service } from "../shared/http/router.ts";
import { createService } from "../shared/http/service.ts";
import { createIndexRoute } from "../shared/service/ops/operations_routes.ts";
import { createDatasetRoutes } from "./http/dataset_routes.ts";
import { createEvaluateRoutes } from "./http/evaluate_routes.ts";
import { createGradeRoutes } from "./http/grade_routes.ts";
import { createCompareRoutes } from "./http/compare_routes.ts";
import { createTurnRoutes } from "./http/turn_routes.ts";
import { createLifeRoutes } from "./http/life_routes.ts";
import { createLeakRoutes } from "./http/leak_routes.ts";
import { createRunRoutes } from "./http/run_routes.ts";
import { createRouteDeps, type EvalDeps } from "./http/route_deps.ts";
import { documents } from "./http/documents.ts";
import { dashboardPage } from "./pages/page.ts";

const about = {
  name: "assay-eval",
  description: "Runs test conversations against a model and scores its replies.",
};

/** The evaluation service: its own routes, and those for operators. */
export function createEvalHandler(given: EvalDeps): Service {
  const deps = createRouteDeps(given);
  const routes = [
    ...createEvaluateRoutes(deps),
    ...createLifeRoutes(deps),
    ...createRunRoutes(deps),
    ...createTurnRoutes(deps),
    ...createCompareRoutes(deps),
    ...createGradeRoutes(deps),
    ...createDatasetRoutes(deps),
    ...createLeakRoutes(deps),
  ];
  const index = createIndexRoute(about, { routes });
  return createService([index, ...routes], { ...deps, about, page: dashboardPage, documents });
}

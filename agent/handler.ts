import type { Capacity } from "../shared/http/connection.ts";
import type { RateLimiter } from "../shared/http/rate_limit.ts";
import type { Service } from "../shared/http/router.ts";
import { createService } from "../shared/http/service.ts";
import { createIndexRoute, type Operations } from "../shared/service/ops/operations_routes.ts";
import { createAgentRoutes } from "./http/agent_routes.ts";
import { createKeptStreams } from "./http/answer/kept_streams.ts";
import { documents } from "./http/documents.ts";
import { createFrontendRoutes } from "./http/frontend_routes.ts";
import { createOpenAIRoutes } from "./http/openai_routes.ts";
import { chatPage } from "./pages/page.ts";
import { errorResponse } from "./http/openai/error_shape.ts";
import { createRunner, type RunnerDeps } from "./core/run/runner.ts";

/** Everything that comes from outside the handler. */
export interface AgentDeps extends RunnerDeps {
  /** Counts running runs against `MAX_RUNS`. */
  runs: Capacity;
  operations?: Operations;
  limiter?: RateLimiter | undefined;
}

const about = {
  name: "assay-agent",
  description: "Answers a conversation with a tool-using agent on the model of your choice.",
};

/** The agent backend: its own routes, those of OpenAI clients, and those for operators. */
export function createAgentHandler(deps: AgentDeps): Service {
  const { models, tools } = deps;
  const runDeps = { ...deps, runner: createRunner(deps), streams: createKeptStreams() };
  const routes = [createAgentRoutes, createOpenAIRoutes, createFrontendRoutes]
    .flatMap((create) => create(runDeps));
  const more = () => ({
    tools: tools.current().names,
    demo_model: models.demoModel,
  });
  const index = createIndexRoute(about, { routes, more });
  return createService([index, ...routes], {
    ...deps,
    about,
    page: chatPage,
    documents,
    errorResponse,
  });
}

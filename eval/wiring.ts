import pLimit from "p-limit";
import { createSameOriginFetch } from "../shared/http/same_origin_fetch.ts";
import type { Logger } from "../shared/log.ts";
import { createAgentDialect } from "./agent_dialect.ts";
import type { EvalConfig } from "./config.ts";
import { createEndpointClient } from "./endpoint_client.ts";
import { createEndpointPolicy } from "./endpoint_policy.ts";
import type { EvalDeps } from "./handler.ts";
import { createRunManager } from "./runs/run_manager.ts";
import type { RunStore } from "./store/store.ts";
import { createOpenAIDialect } from "./openai_dialect.ts";
import { createScoringPorts } from "./scoring_wiring.ts";
import { createTarget, type Dialects } from "./target.ts";

/** The service's real dependencies, from its configuration and its open store. */
export function createEvalDeps(
  config: EvalConfig,
  { log, store }: { log: Logger; store: RunStore },
): EvalDeps {
  const sameOriginFetch = createSameOriginFetch(fetch);
  const endpoints = createEndpointPolicy(config);
  const scoring = createScoringPorts(config, sameOriginFetch);
  const runs = createRunManager({
    store,
    scoring,
    log,
    endpoints,
    slot: pLimit(config.EVAL_CONCURRENCY),
    concurrency: config.EVAL_CONCURRENCY,
    connect: ({ endpoint, model_id: modelId, protocol, parameters }, credential) => {
      const client = createEndpointClient({
        modelId,
        credential,
        timeoutMs: config.MODEL_TIMEOUT_MS,
        retries: config.MODEL_RETRIES,
        fetch: sameOriginFetch,
      });
      const dialects: Dialects = {
        openai: (baseUrl) => createOpenAIDialect({ baseUrl, modelId, parameters }, client),
        agent: (url) => createAgentDialect({ url, modelId }, client),
      };
      return createTarget({ endpoint, protocol, parameters, dialects });
    },
  });
  return { config, log, endpoints, store, runs, scoring };
}

import pLimit from "p-limit";
import { createSameOriginFetch } from "../shared/http/same_origin_fetch.ts";
import type { Logger } from "../shared/log.ts";
import { createAgentDialect } from "./agent_dialect.ts";
import type { EvalConfig } from "./config.ts";
import { createEndpointClient } from "./endpoint_client.ts";
import { createEndpointPolicy } from "./endpoint_policy.ts";
import type { EvalDeps } from "./handler.ts";
import { createOpenAIDialect } from "./openai_dialect.ts";
import { createScoringPorts } from "./scoring_wiring.ts";
import { createTarget, type Dialects } from "./target.ts";

/** The service's real dependencies, from its configuration. */
export function createEvalDeps(config: EvalConfig, log: Logger): EvalDeps {
  const sameOriginFetch = createSameOriginFetch(fetch);
  return {
    config,
    log,
    endpoints: createEndpointPolicy(config),
    slot: pLimit(config.EVAL_CONCURRENCY),
    scoring: createScoringPorts(config, sameOriginFetch),
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
  };
}

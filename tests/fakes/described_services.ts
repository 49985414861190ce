import { createModels } from "../../agent/core/models/models.ts";
import { AgentConfig } from "../../agent/config.ts";
import { EvalConfig } from "../../eval/config.ts";
import * as observation from "../../eval/ask/observation.ts";
import { createEvalDeps } from "../../eval/wiring.ts";
import { parseConfig } from "../../shared/service/config.ts";
import type { Service } from "../../shared/http/router.ts";
import { silentLogger } from "../../shared/service/log.ts";
import { createMetrics } from "../../shared/service/ops/metrics.ts";
import { agentService } from "./agent_service.ts";
import { evalService } from "./eval_service.ts";
import { memoryStore } from "./memory_store.ts";
import { createScriptedProvider } from "./scripted_provider.ts";

// deno-lint-ignore no-explicit-any -- a document of whatever shape, which is what is tested
export type Document = any;

const config = parseConfig(AgentConfig, {});
/** Both services, without a network. */
export const SERVICES: Record<string, () => Service> = {
  agent: () =>
    agentService(createScriptedProvider(), {
      models: createModels(config, silentLogger),
      operations: { metrics: createMetrics({ runs: () => 0 }), checks: {} },
    }).service,
  eval: () => {
    const { operations } = createEvalDeps(parseConfig(EvalConfig, {}), {
      log: silentLogger,
      store: memoryStore(),
      observation,
    });
    return evalService(() => "fine", operations ? { operations } : {}).service;
  },
};

export const requestTo = (path: string, init: RequestInit = {}) =>
  new Request(`http://127.0.0.1${path}`, init);

/** What `/openapi.json` answers. */
export async function readDocument(service: Service): Promise<Document> {
  return await (await service(requestTo("/openapi.json"))).json();
}

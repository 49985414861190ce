import process from "node:process";
import { callerKeys, requireSafeExposure } from "../shared/service/config.ts";
import type { RateLimiter } from "../shared/http/rate_limit.ts";
import type { Logger } from "../shared/service/log.ts";
import { startService } from "../shared/service/ops/start.ts";
import { AgentConfig, explainIdleSettings } from "./config.ts";
import { createAgentHandler } from "./handler.ts";
import { explainHidden, type Models } from "./core/models/models.ts";
import { loadGraph } from "./core/run/runner.ts";
import { createAgentDeps } from "./wiring.ts";

async function main(): Promise<void> {
  await startService({
    name: "assay-agent",
    schema: AgentConfig,
    portVariable: "AGENT_PORT",
    async check(config) {
      requireSafeExposure(config, {});
      const warnings = explainIdleSettings(config);
      if (!config.AGENT_MCP_CONFIG) return warnings;
      const { readMcpConfig } = await import("./mcp/config.ts");
      return [...warnings, ...readMcpConfig(config.AGENT_MCP_CONFIG).warnings];
    },
    async create(config, log) {
      // The configuration has been read. With the environment in place, the MCP SDK would pass on
      // variables that an entry removes, and with LANGSMITH_* and `deno run -A` LangChain would send
      // conversations to LangSmith.
      process.env = {};
      const deps = await createAgentDeps(config, log);
      const { models, tools, metrics } = deps;
      const shared = await openSharedLimit(config, log);
      return {
        service: createAgentHandler({ ...deps, limiter: shared?.limiter }),
        metrics,
        // After the port is open: most of the code is needed by runs only.
        begin: async () => {
          await Promise.all([loadGraph(), models.load?.()]);
          if (config.HUB_BARE_MODELS === "off") await warnOfHidden(models, log);
        },
        async close() {
          await tools[Symbol.asyncDispose]();
          await shared?.close();
        },
        fields: models.demoModel ? { model: `${models.demoModel} (embedded demo)` } : undefined,
        hints: (url) => [
          ...describeDemo(models),
          `open ${url} in a browser, or try: ${curl(url, { config, models })}`,
        ],
      };
    },
  });
}

/** Names the models that the hub lists and that cannot be asked by that name. */
async function warnOfHidden(models: Models, log: Logger): Promise<void> {
  const { hidden } = await models.listHub();
  if (hidden.length > 0) {
    log.warn(explainHidden(hidden), { models: hidden.slice(0, 10).join(", ") });
  }
}

/** Database connections of one instance: a request holds one for a millisecond. */
const LIMIT_CONNECTIONS = 4;

/** The limiter that all instances share, if `RATE_LIMIT_STORE` says where. */
async function openSharedLimit(
  { RATE_LIMIT: rate, RATE_LIMIT_STORE: address }: AgentConfig,
  log: Logger,
): Promise<{ limiter: RateLimiter; close: () => Promise<void> } | undefined> {
  if (!rate || address === undefined) return undefined;
  const { createPostgresPool } = await import("../shared/service/postgres/pool.ts");
  const { createPostgresLimiter } = await import("../shared/service/postgres/rate_limiter.ts");
  const pool = await createPostgresPool({ address, max: LIMIT_CONNECTIONS, name: "assay-agent" });
  const limiter = await createPostgresLimiter({ pool, rate, service: "agent", log });
  return { limiter, close: () => pool.end() };
}

function describeDemo({ demoModel }: Models): string[] {
  if (!demoModel) return [];
  return [
    `${demoModel} is the embedded demo. It needs no key and is not a real model. ` +
    "Set HUB_BASE_URL or STUDIO_BASE_URL to use a real one.",
  ];
}

function curl(url: string, { config, models }: { config: AgentConfig; models: Models }): string {
  const model = models.demoModel ??
    (config.HUB_BASE_URL ? "<provider>/<model>" : "<UUID of a fine-tuned model>");
  const headers = [
    "content-type: application/json",
    `x-model-id: ${model}`,
    ...(callerKeys(config).length > 0 ? ["x-api-key: <one of API_KEYS>"] : []),
  ];
  const body = { messages: [{ type: "human", content: "What is 17 * 23?" }] };
  return `curl -s ${url}/ ${headers.map((header) => `-H '${header}'`).join(" ")} ` +
    `-d '${JSON.stringify(body)}'`;
}

if (import.meta.main) await main();

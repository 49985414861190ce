import { createCapacity } from "../shared/http/admission.ts";
import type { Logger } from "../shared/log.ts";
import { createMetrics, type Metrics } from "../shared/ops/metrics.ts";
import type { Check } from "../shared/ops/operations.ts";
import type { AgentConfig } from "./config.ts";
import type { AgentDeps } from "./handler.ts";
import { connectMcp } from "./mcp/client.ts";
import { readMcpConfig } from "./mcp/config.ts";
import { createMcpToolSource } from "./mcp/tool_source.ts";
import { createModels, type Models, observeModels } from "./models/models.ts";
import { createTools } from "./tools/mod.ts";
import { observeTools } from "./tools/observed_tools.ts";
import { createFixedTools, type ToolSource } from "./tools/tool.ts";

/** What `main.ts` needs beside the handler. */
export interface WiredAgent extends AgentDeps {
  /** Disposing of it closes the tools. */
  tools: ToolSource & AsyncDisposable;
  metrics: Metrics;
}

/** The service's real dependencies, from its configuration. Connects to the MCP servers. */
export function createAgentDeps(config: AgentConfig, log: Logger): WiredAgent {
  const runs = createCapacity({
    what: "runs",
    max: config.AGENT_MAX_RUNS,
    setting: "AGENT_MAX_RUNS",
  });
  const metrics = createMetrics({ runs: () => runs.used });
  const models = observeModels(createModels(config, log), metrics);
  const tools = observeTools(createToolSource(config, log), metrics);
  const checks = { providers: checkProviders(config, models) };
  const details = { mcp: checkMcp(tools) };
  const operations = { metrics, checks, details };
  return { config, log, models, tools, runs, operations, metrics };
}

function createToolSource(config: AgentConfig, log: Logger): ToolSource & AsyncDisposable {
  const builtIn = createTools(config, log);
  if (!config.AGENT_MCP_CONFIG) return createFixedTools(builtIn);
  const servers = readMcpConfig(config.AGENT_MCP_CONFIG);
  return createMcpToolSource({ builtIn, servers, connect: connectMcp, log });
}

function checkProviders(config: AgentConfig, { demoModel }: Models): Check {
  const isConfigured = Boolean(demoModel || config.HUB_BASE_URL || config.STUDIO_BASE_URL);
  return () => isConfigured ? undefined : "no provider is configured";
}

/** Names the MCP servers that are not ready. Their errors are in `GET /tools`, which needs a key. */
export function checkMcp(tools: ToolSource): Check {
  return () => {
    const missing = tools.describe().servers.filter(({ state }) => state !== "ready");
    return missing.map(({ name, state }) => `${name} is ${state}`).join(", ") || undefined;
  };
}

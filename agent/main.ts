import process from "node:process";
import { callerKeys, requireSafeExposure } from "../shared/config.ts";
import { createCapacity } from "../shared/http/admission.ts";
import { createMetrics } from "../shared/ops/metrics.ts";
import { observeTools } from "./tools/observed_tools.ts";
import type { Logger } from "../shared/log.ts";
import { startService } from "../shared/start.ts";
import { AgentConfig } from "./config.ts";
import { createAgentHandler } from "./handler.ts";
import { connectMcp } from "./mcp/client.ts";
import { readMcpConfig } from "./mcp/config.ts";
import { createMcpToolSource } from "./mcp/tool_source.ts";
import { createModels, type Models, observeModels } from "./models/models.ts";
import { checkMcp } from "./readiness.ts";
import { loadGraph } from "./run/runner.ts";
import { createTools } from "./tools/mod.ts";
import { createFixedTools, type ToolSource } from "./tools/tool.ts";

async function main(): Promise<void> {
  await startService({
    name: "assay-agent",
    schema: AgentConfig,
    portVariable: "AGENT_PORT",
    check: (config) => requireSafeExposure(config, {}),
    outgoing: (config) => config.AGENT_MAX_RUNS,
    create(config, log) {
      // All that is ours has been read. LangChain would look for its own variables some twenty times
      // a run, at a fifth of the run's processor time; it finds an empty object sooner.
      process.env = {};
      const runs = createCapacity({
        what: "runs",
        max: config.AGENT_MAX_RUNS,
        setting: "AGENT_MAX_RUNS",
      });
      const metrics = createMetrics({ runs: () => runs.used });
      const models = observeModels(createModels(config, log), metrics);
      const tools = observeTools(createToolSource(config, log), metrics);
      const checks = {
        providers: () => isConfigured(config, models) ? undefined : "no provider is configured",
      };
      const details = { mcp: checkMcp(tools) };
      const operations = { metrics, checks, details };
      return {
        service: createAgentHandler({ config, log, models, tools, runs, operations }),
        metrics,
        // After the port is open: what only runs need is most of the code.
        begin: async () => void await Promise.all([loadGraph(), models.load?.()]),
        close: () => Promise.resolve(tools[Symbol.asyncDispose]()),
        ...(models.demoModel && { fields: { model: `${models.demoModel} (embedded demo)` } }),
        hints: (url) => [...describeDemo(models), `try: ${curl(url, { config, models })}`],
      };
    },
  });
}

function isConfigured(config: AgentConfig, { demoModel }: Models): boolean {
  return Boolean(demoModel || config.HUB_BASE_URL || config.STUDIO_BASE_URL);
}

function createToolSource(config: AgentConfig, log: Logger): ToolSource & AsyncDisposable {
  const builtIn = createTools(config, log);
  if (!config.AGENT_MCP_CONFIG) return createFixedTools(builtIn);
  const servers = readMcpConfig(config.AGENT_MCP_CONFIG);
  return createMcpToolSource({ builtIn, servers, connect: connectMcp, log });
}

function describeDemo({ demoModel }: Models): string[] {
  if (!demoModel) return [];
  return [
    `${demoModel} is the embedded demo: it needs no key and is no real model. ` +
    "Set HUB_BASE_URL or STUDIO_BASE_URL to use one.",
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

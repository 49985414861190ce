import { createWorkerBoard, type WorkerBoard } from "../shared/service/worker_call.ts";
import { createCapacity } from "../shared/http/connection.ts";
import { createRedactor, listSecrets, type Logger } from "../shared/service/log.ts";
import { createMetrics } from "../shared/service/ops/metrics.ts";
import type { ReadinessCheck } from "../shared/service/ops/operations_routes.ts";
import { PROVIDER_NAMES, settingsOf } from "../shared/providers/provider.ts";
import { type AgentConfig, readProgramEnvironment } from "./config.ts";
import { createModels, type Models, observeModels } from "./core/models/models.ts";
import { createTools } from "./core/tools/mod.ts";
import { createFixedTools, observeTools, type ToolSource } from "./core/tools/tool.ts";

/**
 * The service's real dependencies, from its configuration. Connects to the MCP servers; disposing of
 * `tools` closes them.
 */
export async function createAgentDeps(config: AgentConfig, log: Logger) {
  const { MAX_RUNS: max = 1000 } = config;
  const runs = createCapacity({ what: "runs", max, setting: "MAX_RUNS" });
  const workers = createWorkerBoard(log);
  const metrics = createMetrics({ runs: () => runs.used, workerRestarts: () => workers.restarts });
  const models = observeModels(createModels(config, log), {
    metrics,
    recordsMessages: config.OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT,
  });
  const tools = observeTools(await createToolSource(config, { log, workers }), metrics);
  const checks = { providers: checkProviders(config, models) };
  // Without a worker or an MCP server only its tools are missing: the service is still ready.
  const details = { mcp: checkMcp(tools), workers: workers.check };
  const operations = { metrics, checks, details };
  return { config, log, models, tools, runs, operations, metrics };
}

async function createToolSource(
  config: AgentConfig,
  { log, workers }: { log: Logger; workers: WorkerBoard },
): Promise<ToolSource & AsyncDisposable> {
  const builtIn = createTools(config, workers);
  if (!config.AGENT_MCP_CONFIG) return createFixedTools(builtIn);
  const [{ createMcpConnect }, { readMcpConfig }, { createMcpToolSource }] = await Promise.all([
    import("./mcp/client.ts"),
    import("./mcp/config.ts"),
    import("./mcp/tool_source.ts"),
  ]);
  const { servers } = readMcpConfig(config.AGENT_MCP_CONFIG);
  const redact = createRedactor(listSecrets(config));
  const connect = createMcpConnect({
    environment: readProgramEnvironment(),
    redact,
  });
  return createMcpToolSource({ builtIn, servers, connect, log, redact });
}

function checkProviders(config: AgentConfig, { demoModel }: Models): ReadinessCheck {
  const isConfigured = Boolean(demoModel) ||
    PROVIDER_NAMES.some((name) => config[settingsOf(name).address]);
  // Without any of these there is the demo, unless fine-tuned models are listed.
  const reason = "STUDIO_MODELS lists models, but no provider is configured; set STUDIO_BASE_URL";
  return () => isConfigured ? undefined : reason;
}

/** Names the MCP servers that are not ready. Their errors are in `GET /tools`, which needs a key. */
export function checkMcp(tools: ToolSource): ReadinessCheck {
  return () => {
    const missing = tools.describe().servers.filter(({ state }) => state !== "ready");
    return missing.map(({ name, state }) => `${name} is ${state}`).join(", ") || undefined;
  };
}

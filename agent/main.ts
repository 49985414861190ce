import { callerKeys, requireSafeExposure } from "../shared/config.ts";
import { startService } from "../shared/start.ts";
import { AgentConfig } from "./config.ts";
import { createAgentHandler } from "./handler.ts";
import { createModels, type Models } from "./models.ts";
import { createTools } from "./tools/mod.ts";
import { createFixedTools } from "./tools/tool.ts";

async function main(): Promise<void> {
  await startService({
    name: "assay-agent",
    schema: AgentConfig,
    portVariable: "AGENT_PORT",
    create(config, log) {
      requireSafeExposure(config, {});
      const models = createModels(config, log);
      const tools = createFixedTools(createTools(config));
      return {
        service: createAgentHandler({ config, log, models, tools }),
        ...(models.demoModel && { fields: { model: `${models.demoModel} (embedded demo)` } }),
        hints: (url) => [...describeDemo(models), `try: ${curl(url, { config, models })}`],
      };
    },
  });
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

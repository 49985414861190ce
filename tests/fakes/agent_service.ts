import { AgentConfig } from "../../agent/config.ts";
import { type AgentDeps, createAgentHandler } from "../../agent/handler.ts";
import { createTools } from "../../agent/core/tools/mod.ts";
import { createFixedTools } from "../../agent/core/tools/tool.ts";
import { parseConfig } from "../../shared/service/config.ts";
import { createCapacity } from "../../shared/http/connection.ts";
import { silentLogger } from "../../shared/service/log.ts";
import type { ChatProvider } from "../../shared/providers/provider.ts";

/** The agent backend without a socket, over one provider for all models. */
export function agentService(
  provider: ChatProvider,
  { environment = {}, ...more }: { environment?: Record<string, string> } & Partial<AgentDeps> = {},
) {
  const asked: string[] = [];
  const config = parseConfig(AgentConfig, environment);
  const service = createAgentHandler({
    config,
    log: silentLogger,
    tools: createFixedTools(createTools(config)),
    runs: createCapacity({ what: "runs", max: 1000, setting: "MAX_RUNS" }),
    models: {
      providerFor(target) {
        asked.push(target);
        return provider;
      },
      listStudio: () => Promise.resolve({}),
      listHub: () => Promise.resolve({ models: [], hidden: [] }),
    },
    ...more,
  });
  return { service, asked };
}

/** A request to `POST /`; a `body` that is text is sent as it is. */
export function agentRequestOf(
  body: unknown,
  { headers = {}, signal }: { headers?: Record<string, string>; signal?: AbortSignal } = {},
): Request {
  return new Request("http://127.0.0.1:8000/", {
    method: "POST",
    headers: { "content-type": "application/json", "x-model-id": "a/b", ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
    ...(signal && { signal }),
  });
}

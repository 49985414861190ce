import type { Logger } from "../../shared/log.ts";
import type { AgentConfig } from "../config.ts";
import type { CallerMessage } from "./conversation.ts";
import type { Emit } from "./events.ts";
import { createFallback } from "../models/fallback.ts";
import type { AgentResult, AgentSettings } from "./graph.ts";
import { buildHistory, type HistoryRepairs } from "./history.ts";
import { type ModelChoice, resolveModel } from "../models/choice.ts";
import type { Models } from "../models/models.ts";
import type { ToolSource } from "../tools/tool.ts";

/** A conversation to answer. The configuration provides what is unset. */
export interface RunRequest {
  choice: ModelChoice;
  messages: CallerMessage[];
  systemPrompt?: string | undefined;
  settings?: Partial<AgentSettings>;
}

export interface RunReport extends AgentResult {
  /** The model that answered: the requested one, or a fallback. */
  model: string;
}

export interface PreparedRun {
  readonly repairs: HistoryRepairs;
  /** The model that answered last, or that is being asked now. */
  readonly model: string;
  /** May be called once. Throws as `runAgent` does. */
  start(options: { signal: AbortSignal; emit?: Emit }): Promise<RunReport>;
}

let graph: typeof import("./graph.ts") | undefined;

/** Loads LangGraph, which takes half of the service's load time. */
export async function loadGraph(): Promise<typeof import("./graph.ts")> {
  return graph = await import("./graph.ts");
}

/** Turns requests into runs. Throws 4xx and 503 before a provider is asked. */
export interface Runner {
  prepare(request: RunRequest): PreparedRun;
}

export interface RunnerDeps {
  config: AgentConfig;
  log: Logger;
  models: Models;
  tools: ToolSource;
}

export function createRunner({ config, log, models, tools }: RunnerDeps): Runner {
  const configured: AgentSettings = {
    maxSteps: config.AGENT_MAX_STEPS,
    temperature: config.AGENT_TEMPERATURE,
    maxTokens: config.AGENT_MAX_TOKENS,
    toolLimits: { timeoutMs: config.TOOL_TIMEOUT_MS },
  };

  const fallbacks = config.HUB_FALLBACK.map((id) => resolveModel(id, config).model);

  return {
    prepare({ choice: { target, model }, messages, systemPrompt, settings }) {
      const history = buildHistory(messages, {
        systemPrompt: systemPrompt ?? config.AGENT_SYSTEM_PROMPT,
        maxMessages: config.AGENT_MAX_HISTORY,
      });
      const others = target === "hub" ? fallbacks.filter((id) => id !== model) : [];
      const provider = createFallback(models.providerFor(target), [model, ...others]);
      return {
        repairs: history.repairs,
        get model() {
          return provider.answeredBy;
        },
        async start(options) {
          const { runAgent } = graph ?? await loadGraph();
          const result = await runAgent({
            provider,
            model,
            messages: history.messages,
            tools: tools.current(),
            settings: { ...configured, ...settings },
            log,
            ...options,
          });
          return { ...result, model: provider.answeredBy };
        },
      };
    },
  };
}

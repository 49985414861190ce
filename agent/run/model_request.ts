import { asFields } from "../../shared/fields.ts";
import type { ChatMessage, ChatRequest } from "../../shared/providers/provider.ts";
import type { offerTools } from "./caller_tools.ts";
import type { RunCost } from "./cost.ts";
import type { ToolLimits } from "./run_tool_calls.ts";

/** Settings of a run's model calls. If one is unset, the provider's default applies. */
export interface AgentSettings {
  /** Model calls with tools, at least 1. After them, the model is asked for an answer without. */
  maxSteps: number;
  temperature?: number | undefined;
  maxTokens?: number | undefined;
  /** Further fields for the provider; see `ChatRequest.extra`. */
  extra?: Record<string, unknown> | undefined;
  /** The same for fields that a provider refuses without tools. */
  toolExtra?: ToolExtra | undefined;
  /** If one is unset, its default applies. */
  toolLimits?: Partial<ToolLimits> | undefined;
}

export interface ToolExtra {
  tool_choice?: unknown;
  parallel_tool_calls?: unknown;
}

/** What the model is asked next. Without `offered` it may call no tool. */
export function toModelRequest(
  { messages, cost }: { messages: ChatMessage[]; cost: RunCost },
  { model, settings, offered }: {
    model: string;
    settings: AgentSettings;
    offered?: ReturnType<typeof offerTools>;
  },
): ChatRequest {
  const { temperature, maxTokens, extra } = settings;
  const fields = offered && toolFields(settings, cost);
  return {
    model,
    messages,
    ...offered,
    ...(temperature !== undefined && { temperature }),
    ...(maxTokens !== undefined && { maxTokens }),
    ...((extra || fields) && { extra: { ...extra, ...fields } }),
  };
}

/** A caller who forces a tool call forces one: with more, the model could never answer. */
function toolFields({ toolExtra }: AgentSettings, { modelCalls }: RunCost): ToolExtra | undefined {
  if (!toolExtra || modelCalls === 0) return toolExtra;
  const { tool_choice: choice, ...rest } = toolExtra;
  if (choice === "auto" || choice === "none") return toolExtra;
  const { type, allowed_tools: allowed } = asFields(choice);
  if (type !== "allowed_tools") return rest;
  return { ...rest, tool_choice: { type, allowed_tools: { ...asFields(allowed), mode: "auto" } } };
}

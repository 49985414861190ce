import { toApiProblem } from "../../shared/pages/api_problem.ts";
import { lost, requestEvents, requestJson } from "../../shared/pages/api.ts";
import type {
  CompletionRequest,
  Model,
  ModelList,
  OpenAIError,
} from "../schemas/chat_completion.ts";
import type { ToolReport } from "../tools/tool.ts";
import type { Chunk } from "./answer_stream.ts";
import { createId, type Settings } from "./conversation/conversation.ts";

/** The fine-tuned models, then the hub's. */
export async function listModels(): Promise<Model[]> {
  const { data } = await requestJson<ModelList>("/v1/models");
  return data;
}

/** The embedded demo model, if it is the only one here. */
export async function findDemoModel(): Promise<string | undefined> {
  const { demo_model } = await requestJson<{ demo_model?: string }>("/");
  return demo_model;
}

export function listTools(): Promise<ToolReport> {
  return requestJson<ToolReport>("/tools");
}

export interface ReplyRequest {
  model: string;
  messages: CompletionRequest["messages"];
  settings: Settings;
  signal: AbortSignal;
}

/** The chunks of an answer as they come. Throws an `ApiProblem`, also for a failure on the way. */
export async function* streamReply(
  { model, messages, settings, signal }: ReplyRequest,
): AsyncGenerator<Chunk> {
  const { systemPrompt, temperature, maxTokens, usesTools, asksBeforeTools } = settings;
  const system = systemPrompt.trim() ? [{ role: "system" as const, content: systemPrompt }] : [];
  const body: CompletionRequest = {
    model,
    messages: [...system, ...messages],
    stream: true,
    stream_options: { include_usage: true },
    ...(temperature !== undefined && { temperature }),
    ...(maxTokens !== undefined && { max_tokens: maxTokens }),
  };
  const requestId = createId();
  const headers = {
    "x-request-id": requestId,
    "x-agent-events": "tools",
    ...(!usesTools && { "x-agent-tools": "off" }),
    ...((asksBeforeTools || messages.at(-1)?.role === "tool") && { "x-agent-approve": "tools" }),
  };
  const events = requestEvents("/v1/chat/completions", { method: "POST", body, headers, signal });
  for await (const { data } of events) {
    if (data === "[DONE]") return;
    const chunk: Chunk & Partial<OpenAIError> = JSON.parse(data);
    if (chunk.error) throw toApiProblem(chunk, { status: 502, requestId });
    yield chunk;
  }
  throw lost();
}

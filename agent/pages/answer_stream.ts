import { asFields, asList, asText, parseFields } from "../../shared/service/fields.ts";
import { lostProblem, requestEvents } from "../../shared/pages/api.ts";
import { toApiProblem } from "../../shared/pages/api_problem.ts";
import { thoughtOf } from "../../shared/providers/content.ts";
import type { toAccount } from "../http/answer/run_request.ts";
import type { CompletionUsage } from "../http/openai/completion.ts";
import type { AgentEvent } from "../core/agent_message.ts";
import type { CompletionRequest, OpenAIError } from "../http/schemas/chat_completion.ts";
import {
  type Answer,
  type AnswerFacts,
  type AnswerPart,
  approvalRounds,
  createId,
  type Settings,
} from "./conversation/conversation.ts";

/**
 * One event of a streamed answer. Without the agent it is the provider's own, so that any field may be
 * missing. The agent's last one has what the run cost.
 */
export interface Chunk {
  model?: string;
  choices?: { delta?: Delta; finish_reason?: string | null }[];
  usage?: CompletionUsage | null;
  agent?: ReturnType<typeof toAccount>;
}

interface Delta {
  /** Text or, of some providers, a list of parts. */
  content?: unknown;
  refusal?: unknown;
  reasoning_content?: unknown;
  /** The name that some providers have for it. */
  reasoning?: unknown;
  tool_events?: AgentEvent[];
  /** Pieces of the calls that wait for the person. */
  tool_calls?: {
    index: number;
    id?: string;
    function?: { name?: string; arguments?: string };
  }[];
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
  throw lostProblem();
}

/** What ended an answer early, by its `finish_reason`. */
const LIMITS: Partial<Record<string, string>> = {
  length: "max_tokens",
  max_tokens: "max_tokens",
  content_filter: "content_filter",
};

/**
 * Builds an answer from its chunks: a new one, or the rest of one that waited for approvals. `now` is
 * in milliseconds; only differences count.
 */
export function createAnswerBuilder(
  before: Answer,
  now: () => number = () => performance.now(),
) {
  const { model, facts: earlier } = before;
  const startedAt = now();
  let { parts } = before;
  const calls: { id: string; name: string; text: string }[] = [];
  let firstTokenMs: number | undefined;
  let account: ReturnType<typeof toAccount> | undefined;
  let usage: CompletionUsage | undefined;
  let answeredBy = model;
  let finishReason: string | undefined;

  function facts(): AnswerFacts {
    const totalMs = now() - startedAt;
    const stopped = account?.stopped ?? LIMITS[finishReason ?? ""];
    return {
      model: account?.model ?? answeredBy,
      modelCalls: (earlier?.modelCalls ?? 0) + (account?.model_calls ?? 1),
      toolCalls: (earlier?.toolCalls ?? 0) + (account?.tool_calls ?? 0),
      inputTokens: (earlier?.inputTokens ?? 0) +
        (account?.input_tokens ?? usage?.prompt_tokens ?? 0),
      outputTokens: (earlier?.outputTokens ?? 0) +
        (account?.output_tokens ?? usage?.completion_tokens ?? 0),
      firstTokenMs: earlier?.firstTokenMs ?? firstTokenMs ?? totalMs,
      totalMs: (earlier?.totalMs ?? 0) + totalMs,
      ...(stopped && { stopped }),
      ...(account?.history_repairs && { repairs: account.history_repairs }),
    };
  }

  return {
    add(chunk: Chunk): void {
      answeredBy = chunk.model ?? answeredBy;
      usage = chunk.usage ?? usage;
      account = chunk.agent ?? account;
      const { delta, finish_reason } = chunk.choices?.[0] ?? {};
      finishReason = finish_reason ?? finishReason;
      if (!delta) return;
      for (const { index, id, function: called } of delta.tool_calls ?? []) {
        calls[index] ??= { id: id ?? "", name: called?.name ?? "", text: "" };
        calls[index].text += called?.arguments ?? "";
      }
      const added = addDelta(parts, delta);
      if (added !== parts) firstTokenMs ??= now() - startedAt;
      parts = added;
    },
    /** The answer so far. */
    answer(): Answer {
      return { model, status: "streaming", parts };
    },
    /** The whole answer. Facts are known only if it was not stopped. */
    end(status: "done" | "stopped"): Answer {
      if (status === "stopped") return { model, status, parts };
      const approval = { state: "waiting" as const, round: approvalRounds(before).length };
      const waiting = calls.map(({ id, name, text }) => (
        { type: "tool" as const, id, name, args: parseFields(text) ?? text, approval }
      ));
      return { model, status, parts: [...parts, ...waiting], facts: facts() };
    },
  };
}

function addDelta(before: AnswerPart[], delta: Delta): AnswerPart[] {
  let added = before;
  const { content, refusal, reasoning_content, reasoning } = delta;
  const parts = asList(content);
  const thought = asText(reasoning_content) || asText(reasoning) || parts.map(thoughtOf).join("");
  if (thought) added = addText(added, "reasoning", thought);
  for (const text of [asText(content), parts.map(textOf).join(""), asText(refusal)]) {
    if (text) added = addText(added, "text", text);
  }
  for (const event of delta.tool_events ?? []) added = addToolEvent(added, event);
  return added;
}

function textOf(part: unknown): string {
  return asText(part) ?? asText(asFields(part).text) ?? "";
}

function addText(parts: AnswerPart[], type: "text" | "reasoning", text: string): AnswerPart[] {
  const last = parts.at(-1);
  if (last?.type === type) return parts.with(-1, { type, text: last.text + text });
  const begin = text.replace(/^\n+/, ""); // the break after a tool call is a new part here
  return begin ? [...parts, { type, text: begin }] : parts;
}

function addToolEvent(parts: AnswerPart[], event: AgentEvent): AnswerPart[] {
  if (event.type === "tool_call") {
    const { id, name, args } = event;
    if (parts.some((part) => part.type === "tool" && part.id === id && part.approval)) return parts;
    return [...parts, { type: "tool", id, name, args }];
  }
  if (event.type !== "tool_result") return parts;
  const { id, content, status, ms } = event;
  return parts.map((part) =>
    part.type === "tool" && part.id === id && !part.result
      ? { ...part, result: { content, status, ms } }
      : part
  );
}

import { asFields, asText, type Fields } from "../../../shared/service/fields.ts";
import type { AgentEvent } from "../../core/agent_message.ts";
import type { Frontend, FrontendRequest, UIPart, UIRequest } from "./frontend.ts";

/** The conversation in the form of `POST /`, and the encoder of its answer. */
export function readUIRequest({ id, messages }: UIRequest): FrontendRequest {
  const last = messages.at(-1)!;
  return {
    streamKey: id,
    conversationId: id,
    messages: messages.flatMap(({ role, parts }) => {
      if (role === "assistant") return toTurns(parts);
      const content = parts.flatMap(toContent);
      return [{ type: role === "user" ? "human" : "system", content }];
    }),
    // An answer to an approval continues the message that asked for it.
    frontend: createUIMessageStream(last.role === "assistant" ? last.id : undefined),
  };
}

function toContent(part: UIPart): Fields[] {
  if (part.type === "text") return [{ type: "text", text: part.text }];
  if (part.type !== "file") return [];
  const { url, mediaType, filename } = part;
  if (String(mediaType).startsWith("image/")) return [{ type: "image_url", image_url: { url } }];
  return [{ type: "file", file: { filename: filename ?? "file", file_data: url } }];
}

/**
 * A message of the assistant as its turns and the results of its tools. What was before a call that
 * needed an approval is left out: the service has kept the run that waited for it.
 */
function toTurns(all: UIPart[]): Fields[] {
  const parts = all.slice(Math.max(0, all.findIndex(({ approval }) => approval !== undefined)));
  const turns: Fields[] = [];
  let turn: { type: "ai"; content: string; tool_calls: Fields[] } | undefined;
  const results: Fields[] = [];
  function endTurn(): void {
    if (turn) turns.push(turn, ...results.splice(0));
    turn = undefined;
  }
  for (const part of parts) {
    const { type } = part;
    const isTool = type === "dynamic-tool" || type.startsWith("tool-");
    if (type === "text" && results.length > 0) endTurn();
    if (type === "text" || isTool) turn ??= { type: "ai", content: "", tool_calls: [] };
    if (type === "text") turn!.content += part.text;
    if (!isTool) continue;
    const name = asText(part.toolName) ?? type.slice("tool-".length);
    const id = part.toolCallId;
    turn!.tool_calls.push({ id, name, args: asFields(part.input), type: "tool_call" });
    const content = resultOf(part);
    if (content !== undefined) results.push({ type: "tool", tool_call_id: id, name, content });
  }
  endTurn();
  return turns;
}

/** The result of a call, or the decision about it; `undefined` if there is none yet. */
function resultOf({ state, output, errorText, approval }: UIPart): string | undefined {
  if (state === "output-available") {
    return typeof output === "string" ? output : JSON.stringify(output) ?? "";
  }
  if (state === "output-error") return `Error: ${errorText}`;
  const { approved, reason } = asFields(approval);
  if (approved === undefined) return undefined;
  if (approved === true) return "approved";
  return reason ? `refused: ${reason}` : "refused";
}

const BLOCKS = { token: "text", reasoning: "reasoning" } as const;

/** The stream of `UIMessageChunk`s, version 1. `messageId` is that of a message to continue. */
function createUIMessageStream(messageId = `msg_${crypto.randomUUID()}`): Frontend {
  let open: { id: string; name: string } | undefined;
  let blocks = 0;

  function close(): Fields[] {
    const ended = open ? [{ type: `${open.name}-end`, id: open.id }] : [];
    open = undefined;
    return ended;
  }

  function write(name: string, delta: string): Fields[] {
    const before = open?.name === name ? [] : close();
    const isNew = open === undefined;
    open ??= { id: String(++blocks), name };
    const { id } = open;
    return [
      ...before,
      ...(isNew ? [{ type: `${name}-start`, id }] : []),
      { type: `${name}-delta`, id, delta },
    ];
  }

  function event(given: AgentEvent): Fields[] {
    switch (given.type) {
      case "token":
      case "reasoning":
        return write(BLOCKS[given.type], given.text);
      case "tool_call":
        return [...close(), announce(given)];
      case "tool_result":
        return given.status === "ok"
          ? [{ type: "tool-output-available", ...resultFields(given), output: given.content }]
          : [{ type: "tool-output-error", ...resultFields(given), errorText: given.content }];
      case "call": // comes whole, at the end
        return [];
    }
  }

  return {
    headers: { "x-vercel-ai-ui-message-stream": "v1" },
    end: "[DONE]",
    start: () => [{ type: "start", messageId }],
    event,
    finish: ({ pending, finishReason, account }) => [
      ...close(),
      ...pending.flatMap(({ id, name, args }) => [
        announce({ id, name, args }),
        { type: "tool-approval-request", approvalId: id, toolCallId: id },
      ]),
      {
        type: "finish",
        finishReason: pending.length > 0 ? "tool-calls" : toFinishReason(finishReason),
        messageMetadata: account,
      },
    ],
    fail: ({ detail }) => [...close(), { type: "error", errorText: detail }],
  };
}

const announce = ({ id, name, args }: { id: string; name: string; args: unknown }): Fields => ({
  type: "tool-input-available",
  toolCallId: id,
  toolName: name,
  input: args,
  dynamic: true,
});

const resultFields = ({ id }: { id: string }) => ({ toolCallId: id, dynamic: true });

function toFinishReason(reason: string): string {
  const known: Record<string, string> = { stop: "stop", length: "length" };
  return reason === "content_filter" ? "content-filter" : known[reason] ?? "other";
}

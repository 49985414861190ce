import { asFields, asList, type Fields } from "../../../shared/service/fields.ts";
import { parseToolArguments } from "../../../shared/providers/openai_messages.ts";
import type { AgentEvent } from "../../core/agent_message.ts";
import type { Frontend, FrontendRequest, RunAgentInput } from "./frontend.ts";

/** The conversation in the form of `POST /`, and the encoder of its answer. */
export function readRunInput(input: RunAgentInput): FrontendRequest {
  const { runId, messages, tools, context } = input;
  const facts = asList(context).map((fact) =>
    `${asFields(fact).description}: ${asFields(fact).value}`
  );
  return {
    streamKey: runId,
    conversationId: input.threadId,
    messages: [
      // Not as a system message, which would replace the agent's own.
      ...(facts.length > 0 ? [{ type: "human", content: `Context:\n${facts.join("\n")}` }] : []),
      ...messages.flatMap(toMessage),
    ],
    callerTools: tools?.map(({ name, description, parameters }) => ({
      name,
      ...(description?.trim() && { description }),
      parameters: parameters ?? { type: "object", properties: {} },
    })),
    frontend: createAguiStream(input),
  };
}

/** Activities and reasoning are the page's own. */
function toMessage(message: RunAgentInput["messages"][number]): Fields[] {
  const { role, content } = message;
  switch (role) {
    case "system":
    case "developer":
      return [{ type: "system", content }];
    case "user":
      return [{ type: "human", content: Array.isArray(content) ? content.map(toPart) : content }];
    case "assistant": {
      const calls = asList(message.toolCalls).map((call) => {
        const { id, function: called } = asFields(call);
        const { name, arguments: text } = asFields(called);
        return { id, name, args: parseToolArguments(String(text)) ?? {}, type: "tool_call" };
      });
      return [{ type: "ai", content: content ?? "", tool_calls: calls }];
    }
    case "tool": {
      const text = asList(content).map((part) => asFields(part).text ?? "").join("");
      const said = typeof content === "string" ? content : text;
      return [{ type: "tool", tool_call_id: message.toolCallId, content: said }];
    }
    default:
      return [];
  }
}

const KINDS: Record<string, string> = { document: "file" };

function toPart(given: unknown): Fields {
  const part = asFields(given);
  const { type, value, mimeType } = asFields(part.source);
  if (type !== "data" && type !== "url") return part;
  const where = type === "data" ? { base64: value } : { url: value };
  return { type: KINDS[String(part.type)] ?? part.type, mime_type: mimeType, ...where };
}

/** The events of AG-UI 1.0. */
function createAguiStream({ threadId, runId }: RunAgentInput): Frontend {
  let open: { messageId: string; kind: "token" | "reasoning" } | undefined;
  /** The message of the turn, to which its calls belong. */
  let turnId: string | undefined;

  function close(): Fields[] {
    if (!open) return [];
    const { messageId, kind } = open;
    open = undefined;
    if (kind === "token") return [{ type: "TEXT_MESSAGE_END", messageId }];
    return [{ type: "REASONING_MESSAGE_END", messageId }, { type: "REASONING_END", messageId }];
  }

  function start(kind: "token" | "reasoning"): Fields[] {
    const messageId = crypto.randomUUID();
    open = { messageId, kind };
    if (kind === "token") {
      turnId = messageId;
      return [{ type: "TEXT_MESSAGE_START", messageId, role: "assistant" }];
    }
    return [
      { type: "REASONING_START", messageId },
      { type: "REASONING_MESSAGE_START", messageId, role: "reasoning" },
    ];
  }

  function event(given: AgentEvent): Fields[] {
    switch (given.type) {
      case "token":
      case "reasoning": {
        const { type: kind, text: delta } = given;
        const before = open?.kind === kind ? [] : [...close(), ...start(kind)];
        const type = kind === "token" ? "TEXT_MESSAGE_CONTENT" : "REASONING_MESSAGE_CONTENT";
        return [...before, { type, messageId: open!.messageId, delta }];
      }
      case "tool_call":
        return [...close(), ...announce(given, turnId ??= crypto.randomUUID())];
      case "tool_result": {
        const { id: toolCallId, content } = given;
        turnId = undefined;
        const messageId = crypto.randomUUID();
        return [{ type: "TOOL_CALL_RESULT", messageId, toolCallId, content, role: "tool" }];
      }
      case "call": // comes whole, at the end
        return [];
    }
  }

  return {
    headers: {},
    start: () => [{ type: "RUN_STARTED", threadId, runId, protocolVersion: "1.0" }],
    event,
    finish({ pending, account }) {
      const { model, input_tokens: inputTokens, output_tokens: outputTokens } = account;
      const outcome = {
        type: "success",
        pendingToolCallIds: pending.length > 0 ? pending.map(({ id }) => id) : undefined,
      };
      const usage = [{ model, inputTokens, outputTokens }];
      return [
        ...close(),
        ...pending.flatMap((call) => announce(call, turnId ??= crypto.randomUUID())),
        { type: "RUN_FINISHED", threadId, runId, outcome, usage },
      ];
    },
    fail: ({ detail, code }) => [...close(), { type: "RUN_ERROR", message: detail, code }],
  };
}

function announce(
  { id: toolCallId, name, args }: { id: string; name: string; args: unknown },
  parentMessageId: string,
): Fields[] {
  const delta = typeof args === "string" ? args : JSON.stringify(args);
  return [
    { type: "TOOL_CALL_START", toolCallId, toolCallName: name, parentMessageId },
    { type: "TOOL_CALL_ARGS", toolCallId, delta },
    { type: "TOOL_CALL_END", toolCallId },
  ];
}

import { AppError } from "../../shared/errors.ts";
import type { ChatMessage } from "../../shared/providers/provider.ts";
import type { AgentMessage } from "../../shared/schemas/agent.ts";
import { functionName } from "../tools/names.ts";
import { createCallIds, toHistoryCall } from "./tool_call.ts";

/** What was changed so that strict providers accept a conversation; counts of messages. */
export interface HistoryRepairs {
  /** Tool messages for which a tool call was added. */
  paired: number;
  /** Messages joined to the one before them, because both have the same author. */
  merged: number;
  /** Assistant messages added between a tool's result and the user's next message. */
  bridged: number;
  /** User messages added to the start of a conversation that does not begin with one. */
  opened: number;
  /** Blank tool results that were replaced by a note. */
  filled: number;
  /** Blank messages left out. */
  dropped: number;
  /** Messages cut from the front by `maxMessages`. */
  cut: number;
}

export interface HistoryOptions {
  systemPrompt?: string;
  /** How many of the caller's latest messages are kept. If it is unset, all are. */
  maxMessages?: number;
}

const OPENER = "(The conversation starts here.)";
const BRIDGE = "(I have read the tool's result.)";
const BLANK_RESULT = "(The tool returned nothing.)";

/**
 * Turns a conversation into one that every provider accepts, also the strict ones: user and
 * assistant take turns, every tool result follows its call, and no content is blank. All text is
 * kept, in its order; only `maxMessages` removes any. Throws 400 if every message is blank.
 */
export function buildHistory(
  conversation: AgentMessage[],
  { systemPrompt = "", maxMessages = Infinity }: HistoryOptions = {},
): { messages: ChatMessage[]; repairs: HistoryRepairs } {
  if (conversation.every(isBlank)) throw nothingSaid();
  const spoken = conversation.filter((message) => message.type === "tool" || !isBlank(message));
  const kept = cutFront(spoken, maxMessages);
  const turns = mergeTurns(kept);
  const { messages, ...repairs } = toChatMessages(turns);
  if (systemPrompt.trim()) messages.unshift({ role: "system", content: systemPrompt });
  return {
    messages,
    repairs: {
      ...repairs,
      merged: kept.length - turns.length,
      dropped: conversation.length - spoken.length,
      cut: spoken.length - kept.length,
    },
  };
}

/**
 * Keeps the latest messages, starting with a user's message: a result or an answer without its
 * question misleads the model. If the limit leaves no question, the latest one becomes the first
 * message.
 */
function cutFront(messages: AgentMessage[], limit: number): AgentMessage[] {
  if (messages.length <= limit) return messages;
  const tail = messages.slice(-limit);
  const first = tail.findIndex(isQuestion);
  if (first >= 0) return tail.slice(first);
  const question = messages.findLast(isQuestion);
  return question ? [question, ...tail.slice(1)] : tail;
}

/** Joins consecutive messages of one author. Tool results stay separate: each answers its own call. */
function mergeTurns(messages: AgentMessage[]): AgentMessage[] {
  const turns: AgentMessage[] = [];
  for (const message of messages) {
    const last = turns.at(-1);
    if (last?.type === message.type && message.type !== "tool") {
      turns[turns.length - 1] = { ...last, content: `${last.content}\n\n${message.content}` };
    } else {
      turns.push(message);
    }
  }
  return turns;
}

function toChatMessages(turns: AgentMessage[]) {
  const messages: ChatMessage[] = [];
  const count = { paired: 0, bridged: 0, opened: 0, filled: 0 };
  const nextCallId = createCallIds();

  if (turns[0]?.type !== "human") {
    messages.push({ role: "user", content: OPENER });
    count.opened++;
  }
  for (const turn of turns) {
    const last = messages.at(-1);
    if (turn.type === "human") {
      if (last?.role === "tool") {
        messages.push({ role: "assistant", content: BRIDGE });
        count.bridged++;
      }
      messages.push({ role: "user", content: turn.content });
    } else if (turn.type === "ai") {
      messages.push({ role: "assistant", content: turn.content });
    } else {
      const toolCallId = nextCallId();
      const toolCalls = [toHistoryCall({
        id: toolCallId,
        name: functionName(turn.name),
        // OpenAI's clients send the calls with their arguments, other clients do not.
        arguments: typeof turn.arguments === "string" ? turn.arguments : "{}",
      })];
      // An assistant's message right before a result is taken as the one that made the call.
      const isCaller = last?.role === "assistant" && !last.toolCalls;
      if (isCaller) messages[messages.length - 1] = { ...last, toolCalls };
      else messages.push({ role: "assistant", content: "", toolCalls });
      const content = isBlank(turn) ? BLANK_RESULT : turn.content;
      messages.push({ role: "tool", content, toolCallId });
      count.paired++;
      if (isBlank(turn)) count.filled++;
    }
  }
  return { messages, ...count };
}

function isBlank(message: AgentMessage): boolean {
  return message.content.trim() === "";
}

function isQuestion(message: AgentMessage): boolean {
  return message.type === "human";
}

function nothingSaid(): AppError {
  const message = "at least one message must not be blank";
  return new AppError(400, "invalid_request", `cannot use the request body: messages: ${message}`, {
    errors: [{ path: "messages", message }],
  });
}

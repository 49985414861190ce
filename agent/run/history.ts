import { AppError } from "../../shared/errors.ts";
import type { ChatMessage } from "../../shared/providers/provider.ts";
import type { AgentMessage } from "../../shared/schemas/agent.ts";
import { functionName } from "../tools/names.ts";
import { createCallIds, toHistoryCall } from "./tool_call.ts";

/** What had to be done to a conversation before strict providers take it; counts of messages. */
export interface HistoryRepairs {
  /** Tool messages that were given the call they answer. */
  paired: number;
  /** Messages joined to the one before them, because both have one author. */
  merged: number;
  /** Assistant messages put between a tool's result and the user's next message. */
  bridged: number;
  /** User messages put before a conversation that the caller did not begin with one. */
  opened: number;
  /** Tool results that were blank and got a note instead. */
  filled: number;
  /** Blank messages left out. */
  dropped: number;
  /** Messages cut from the front by `maxMessages`. */
  cut: number;
}

export interface HistoryOptions {
  systemPrompt?: string;
  /** How many of the caller's messages are kept, the latest ones; unset: all. */
  maxMessages?: number;
}

const OPENER = "(The conversation starts here.)";
const BRIDGE = "(I have read the tool's result.)";
const BLANK_RESULT = "(The tool returned nothing.)";

/**
 * Turns a conversation into one that every provider of wire.md 2's table accepts. All that was
 * said is kept, in its order; only `maxMessages` takes away. Throws 400 where nothing was said.
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
 * Keeps the latest messages, from a user's message on: a tool's result or an answer whose question
 * is gone misleads. Where the limit leaves no question at all, the latest one takes the first place.
 */
function cutFront(messages: AgentMessage[], limit: number): AgentMessage[] {
  if (messages.length <= limit) return messages;
  const tail = messages.slice(-limit);
  const first = tail.findIndex(isQuestion);
  if (first >= 0) return tail.slice(first);
  const question = messages.findLast(isQuestion);
  return question ? [question, ...tail.slice(1)] : tail;
}

/** One turn an author; tool results stay apart, for each answers a call of its own. */
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
        // Known where the conversation came with its calls, as OpenAI's clients send it.
        arguments: typeof turn.arguments === "string" ? turn.arguments : "{}",
      })];
      // The assistant's words just before a result are taken for the turn that made the call.
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
  const message = "needs a message that says something";
  return new AppError(400, "invalid_request", `cannot use the request body: messages: ${message}`, {
    errors: [{ path: "messages", message }],
  });
}

import type { ImportContext } from "./format.ts";
import { asFields, asList, asText, type Fields, isFields } from "../../../shared/service/fields.ts";
import { findName, SYSTEM_NAMES } from "../datasets/sample_names.ts";

/** A turn that a list of chat messages holds. */
interface ChatTurn {
  user_message: string;
  agent_reply?: string;
  reference_reply?: string;
  reference_replies?: string[];
  metadata?: unknown;
}

/** A conversation that a list of chat messages holds. */
export interface Chat {
  system_prompt?: string;
  /** What is sent before the first turn. */
  prior_messages?: { role: "user" | "assistant"; content: string }[];
  turns: ChatTurn[];
}

/** A conversation of which only the last turn is asked: those before it are few-shot examples. */
export function asPrompt({ turns, ...chat }: Chat): Chat {
  const prior_messages = turns.slice(0, -1).flatMap(({ user_message, ...turn }) => {
    const content = turn.reference_reply ?? turn.agent_reply;
    return [
      { role: "user" as const, content: user_message },
      ...(content === undefined ? [] : [{ role: "assistant" as const, content }]),
    ];
  });
  return { ...chat, ...(prior_messages.length > 0 && { prior_messages }), turns: turns.slice(-1) };
}

type Context = Pick<ImportContext, "leaveOut"> & { line: number };

/**
 * A conversation in OpenAI's or LangChain's form: what the assistant answers is the reference.
 * Messages of other roles are left out. Messages that the user sends one after another are joined,
 * and so are those of the system before them.
 */
export function toChat(messages: unknown[], { line, leaveOut }: Context): Chat {
  const turns: ChatTurn[] = [];
  const system: string[] = [];
  for (const message of messages) {
    const { role, content, tool_calls } = readMessage(message);
    const { text, others } = readContent(content);
    const last = turns.at(-1);
    if (text !== undefined) {
      if (asList(tool_calls).length > 0) leaveOut("tool_calls of messages", line);
      for (const type of others) leaveOut(`parts of messages of the type ${type}`, line);
    }
    if (text === undefined) leaveOut(`messages without text (${nameOf(role)})`, line);
    else if (role === "user" || role === "human") {
      if (last && last.reference_reply === undefined) last.user_message += `\n\n${text}`;
      else turns.push({ user_message: text });
    } else if ((role === "assistant" || role === "ai") && last) {
      if (last.reference_reply !== undefined) {
        leaveOut("all assistant messages in a row but the last", line);
      }
      last.reference_reply = text;
    } else if (role === "system" || role === "developer") {
      if (last) leaveOut("system messages within a conversation", line);
      else system.push(text);
    } else leaveOut(`messages of the role ${nameOf(role)}`, line);
  }
  return toSystemChat(system.join("\n\n"), turns);
}

/** An empty system prompt counts as none. */
function toSystemChat(systemPrompt: string, turns: ChatTurn[]): Chat {
  return { ...(systemPrompt !== "" && { system_prompt: systemPrompt }), turns };
}

/** The system prompt among the fields of a sample, and the other fields; empty if there is none. */
export function takeSystemPrompt(values: Fields): { systemPrompt: string; others: Fields } {
  const texts = Object.keys(values).filter((name) => typeof values[name] === "string");
  const filled = texts.filter((name) => values[name] !== "");
  const name = findName(filled, SYSTEM_NAMES) ?? findName(texts, SYSTEM_NAMES);
  if (name === undefined) return { systemPrompt: "", others: values };
  const { [name]: systemPrompt, ...others } = values;
  // A single field is the question.
  if (Object.keys(others).length === 0) return { systemPrompt: "", others: values };
  return { systemPrompt: String(systemPrompt), others };
}

/** Puts the system prompt of a sample before the system messages of its conversation. */
export function withSystemPrompt(systemPrompt: string, { system_prompt = "", turns }: Chat): Chat {
  const texts = new Set([systemPrompt, system_prompt].filter((text) => text !== ""));
  return toSystemChat([...texts].join("\n\n"), turns);
}

/** A conversation in which what the assistant says are the replies that are scored. */
export function asReplies({ turns, ...chat }: Chat): Chat {
  return {
    ...chat,
    turns: turns.map(({ reference_reply: agent_reply, ...turn }) =>
      agent_reply === undefined ? turn : { ...turn, agent_reply }
    ),
  };
}

/** The scenario that a conversation is. */
export function toScenario(id: string, { turns, ...chat }: Chat) {
  const interactions = turns.map((turn, index) => ({ id: String(index + 1), ...turn }));
  return { id, ...chat, interactions };
}

interface ReadMessage {
  role: unknown;
  content: unknown;
  tool_calls: unknown;
}

/** The roles of examples, which OpenAI sends as system messages with these names. */
const EXAMPLES = new Map<unknown, string>([
  ["example_user", "user"],
  ["example_assistant", "assistant"],
]);

/** What ShareGPT and its relatives call the assistant. */
const ASSISTANTS = new Set<unknown>(["gpt", "chatgpt", "bot", "model"]);

/**
 * A message of OpenAI, one of ShareGPT (`from`, `value`), or one of LangChain in one of its three
 * forms: with `type` instead of `role`, that with the rest in `data`, or an object that it can
 * construct again.
 */
function readMessage(message: unknown): ReadMessage {
  const { role, from, type, id, data, kwargs, value, name, ...fields } = asFields(message);
  const { content = value, tool_calls } = isFields(kwargs)
    ? kwargs
    : isFields(data)
    ? data
    : fields;
  const className = type === "constructor" ? asText(asList(id).at(-1)) : null;
  const classRole = className?.replace(/Message(?:Chunk)?$/, "").toLowerCase();
  const author = EXAMPLES.get(name) ?? role ?? from ?? classRole ?? type;
  return { role: ASSISTANTS.has(author) ? "assistant" : author, content, tool_calls };
}

/** The text of a message of the assistant; `undefined` for any other value. */
export function answerOf(message: unknown): string | undefined {
  const { role, content } = readMessage(message);
  return role === "assistant" || role === "ai" ? readContent(content).text : undefined;
}

/**
 * The text of a message's content, also of one in parts; `undefined` if there is none. `others` are
 * the types of the other parts.
 */
function readContent(content: unknown): { text: string | undefined; others: string[] } {
  if (typeof content === "string") return { text: content, others: [] };
  const texts: string[] = [];
  const others: string[] = [];
  for (const part of asList(content)) {
    const { type, text } = typeof part === "string" ? { type: "text", text: part } : asFields(part);
    if (typeof text === "string") texts.push(text);
    else others.push(nameOf(type));
  }
  return { text: texts.length === 0 ? undefined : texts.join("\n"), others };
}

function nameOf(value: unknown): string {
  return typeof value === "string" ? value.slice(0, 40) : "none";
}

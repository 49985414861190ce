import { invalidField } from "../../../shared/service/errors.ts";
import { filterFields } from "../../../shared/service/fields.ts";
import {
  isBlankContent,
  joinContents,
  nameOf,
  textOf,
  toolCallsOf,
  withNameInText,
  withoutBlankTexts,
} from "../../../shared/providers/content.ts";
import type { ChatMessage, ExtraFields, ToolCall } from "../../../shared/providers/provider.ts";
import { functionName } from "../tools/tool.ts";
import type { CallerMessage, ToolResultMessage } from "./caller_messages.ts";
import { BLANK_RESULT, createCallIds, MAX_ID, toHistoryCall } from "./turn_calls.ts";

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
  /** System messages that were put into the first user message, for a model that refuses them. */
  system: number;
  /** Tool calls without a result that were left out. */
  unanswered: number;
}

export interface HistoryOptions {
  /** The caller's own prompt. Without a conversation it is the whole request. */
  systemPrompt?: string | undefined;
  /** The system prompt if the caller has none. */
  defaultPrompt?: string | undefined;
  /** The field of the request that has the conversation, for errors. */
  field?: string | undefined;
  /**
   * Makes a conversation that every provider accepts; see `buildHistory`. Otherwise everything that
   * the protocol allows is kept.
   */
  isStrict?: boolean;
  /** How many of the caller's latest messages are kept. If it is unset, all are. */
  maxMessages?: number | undefined;
}

const OPENER = "(The conversation starts here.)";
const BRIDGE = "(I have read the tool's result.)";

/**
 * Turns a conversation into one that the protocol allows: every tool result follows its call, every
 * call has a result, and no content is blank. What conforms already stays unchanged, ids included:
 * models work best with the form they were trained on.
 *
 * With `isStrict` it becomes one that every provider accepts: user and assistant take turns, a system
 * message is only at the start, and calls are sent one per turn with ids of nine characters. Only a
 * turn with fields of its provider stays as it is: signatures hold for the turn that they came with.
 *
 * All text is kept, in its order; only `maxMessages` removes any. Throws 400 if every message is blank.
 */
export function buildHistory(
  given: CallerMessage[],
  { isStrict = false, maxMessages = Infinity, ...options }: HistoryOptions = {},
): { messages: ChatMessage[]; repairs: HistoryRepairs } {
  const isMoved = ({ role }: CallerMessage) => role === "system" && isStrict;
  const moved = given.filter(isMoved).map((message) => textOf(withNameInText(message).content));
  const { systemPrompt: callerPrompt, defaultPrompt = "", field = "messages" } = options;
  const systemPrompt = [callerPrompt ?? defaultPrompt, ...moved].filter((text) => text.trim())
    .join("\n\n");
  const conversation = given.filter((message) => !isMoved(message));
  const isSaid = (message: CallerMessage) => message.role !== "system" && !isBlank(message);
  const isPromptAlone = given.length === 0 && Boolean(callerPrompt?.trim());
  if (!isPromptAlone && !conversation.some(isSaid)) {
    throw invalidField(field, "at least one message must not be blank");
  }
  const { answered, whole } = readCalls(conversation, isStrict);
  const isSpoken = (message: CallerMessage) =>
    message.role === "tool" || !isBlank(message) || whole.has(message);
  const spoken = conversation.filter(isSpoken);
  const kept = cutFront(spoken, maxMessages);
  const turns = isStrict ? mergeTurns(kept, whole) : kept;
  const made = new Set(answered.values());
  const { messages, ...repairs } = toChatMessages(turns, { answered, whole, isStrict });
  if (systemPrompt) messages.unshift({ role: "system", content: systemPrompt });
  return {
    messages,
    repairs: {
      ...repairs,
      merged: kept.length - turns.length,
      dropped:
        conversation.filter((message) => !isSpoken(message) && toolCallsOf(message).length === 0)
          .length,
      cut: spoken.length - kept.length,
      system: 0,
      unanswered: conversation.filter((message) => !whole.has(message)).flatMap(toolCallsOf)
        .filter((call) => !made.has(call)).length,
    },
  };
}

/** The tool calls of a conversation. */
interface Calls {
  /** By result: the call that it answers, which is the latest one of its id before it. */
  answered: Map<CallerMessage, ToolCall>;
  /** The turns that stay as they are: the results of all their calls follow them. */
  whole: Set<CallerMessage>;
}

function readCalls(conversation: CallerMessage[], isStrict: boolean): Calls {
  const calls = new Map<string, ToolCall>();
  const answered = new Map<CallerMessage, ToolCall>();
  const whole = new Set<CallerMessage>();
  conversation.forEach((message, index) => {
    const id = answeredId(message);
    const call = id === undefined ? undefined : calls.get(id);
    if (call) answered.set(message, call);
    const made = toolCallsOf(message);
    const ids = new Set(made.map(({ id }) => id));
    const isNew = ids.size === made.length &&
      made.every(({ id }) => id && id.length <= MAX_ID && !(isStrict && calls.has(id)));
    for (const call of made) calls.set(call.id, call);
    if (!isNew || made.length === 0 || isStrict && !hasExtra(message)) return;
    const answers = conversation.slice(index + 1, index + 1 + made.length).map(answeredId);
    const isAnswered = new Set(answers).size === ids.size && answers.every((id) => ids.has(id!));
    if (isAnswered) whole.add(message);
  });
  return { answered, whole };
}

function hasExtra(message: CallerMessage): boolean {
  if (message.role !== "assistant") return false;
  return message.extra !== undefined || typeof message.content !== "string" ||
    Boolean(message.toolCalls?.some((call) => call.extra));
}

/** The id of the call that a tool's result answers. */
export function answeredId(message: CallerMessage): string | undefined {
  return message.role === "tool" ? message.toolCallId : undefined;
}

/**
 * Keeps the latest messages, starting with a user's message: a result or an answer without its
 * question misleads the model. If the cut falls within the work on a question, that question replaces
 * the first message: the next question may be about that work.
 */
function cutFront(messages: CallerMessage[], limit: number): CallerMessage[] {
  if (messages.length <= limit) return messages;
  const tail = messages.slice(-limit);
  if (tail[0] && isQuestion(tail[0])) return tail;
  const rest = tail.slice(1);
  if (rest[0] && isQuestion(rest[0])) return rest;
  const question = messages.slice(0, -limit).findLast(isQuestion);
  if (question) return [question, ...rest];
  const first = tail.findIndex(isQuestion);
  return first >= 0 ? tail.slice(first) : tail;
}

function toChatMessages(
  turns: CallerMessage[],
  { answered, whole, isStrict }: Calls & { isStrict: boolean },
) {
  const messages: ChatMessage[] = [];
  const count = { paired: 0, bridged: 0, opened: 0, filled: 0 };
  const open = new Set<string>();
  const taken = new Set([...whole].flatMap(toolCallsOf).map(({ id }) => id));
  const nextCallId = createCallIds(taken);

  function addResult({ name, ...turn }: ToolResultMessage, result: CallerMessage): void {
    const isEmpty = isBlank(turn);
    const content = isEmpty ? BLANK_RESULT : turn.content;
    if (isEmpty) count.filled++;
    if (turn.toolCallId !== undefined && open.delete(turn.toolCallId)) {
      messages.push({ ...turn, content, toolCallId: turn.toolCallId });
      return;
    }
    const id = nextCallId();
    const made = answered.get(result);
    const toolCalls = [toHistoryCall({
      id,
      name: functionName(made?.name ?? name),
      arguments: made?.arguments ?? "{}",
    })];
    const last = messages.at(-1);
    // An assistant's message right before a result is taken as the one that made the call.
    const isCaller = last?.role === "assistant" && !last.toolCalls;
    if (isCaller) messages[messages.length - 1] = { ...last, toolCalls };
    else messages.push({ role: "assistant", content: "", toolCalls });
    messages.push({ ...turn, content, toolCallId: id });
    count.paired++;
  }

  function addOpener(): void {
    messages.push({ role: "user", content: OPENER });
    count.opened++;
  }

  for (const turn of turns) {
    const isFirst = isStrict && messages.every(({ role }) => role === "system");
    if (turn.role !== "system" && turn.role !== "user" && isFirst) addOpener();
    if (isStrict && turn.role === "user" && messages.at(-1)?.role === "tool") {
      messages.push({ role: "assistant", content: BRIDGE });
      count.bridged++;
    }
    if (turn.role === "tool") addResult(turn, turn);
    else if (turn.role !== "assistant") {
      messages.push({ ...turn, content: withoutBlankTexts(turn.content) });
    } else {
      const { toolCalls = [], ...said } = turn;
      const isWhole = whole.has(turn);
      if (isWhole) { for (const { id } of toolCalls) open.add(id); }
      messages.push({ ...said, ...(isWhole && { toolCalls: toolCalls.map(toHistoryCall) }) });
    }
  }
  if (turns.length === 0) addOpener();
  return { messages, ...count };
}

function isBlank({ content }: CallerMessage): boolean {
  return isBlankContent(content);
}

function isQuestion({ role }: CallerMessage): boolean {
  return role === "user";
}

/**
 * Joins consecutive messages of one role, with the names of their authors in the text if these
 * differ. Tool results stay separate: each answers its own call. If a turn of `whole` is merged, the
 * merged turn is added to `whole`.
 */
function mergeTurns(messages: CallerMessage[], whole: Set<CallerMessage>): CallerMessage[] {
  const turns: CallerMessage[] = [];
  for (const message of messages) {
    const last = turns.at(-1);
    const merged = last && mergeTurn(last, message);
    if (!merged) turns.push(message);
    else {
      turns[turns.length - 1] = merged;
      if (whole.has(message)) whole.add(merged);
    }
  }
  return turns;
}

function mergeTurn(first: CallerMessage, second: CallerMessage): CallerMessage | undefined {
  if (second.role === "tool" || first.role !== second.role) return undefined;
  const isOther = nameOf(first) !== nameOf(second);
  const [last, message] = isOther
    ? [withNameInText(first), withNameInText(second)]
    : [first, second];
  if (isBlankContent(last.content)) return { ...last, ...message };
  const content = isBlankContent(message.content)
    ? last.content
    : joinContents(last.content, message.content);
  if (last.role === "assistant") return { ...last, ...message, content };
  return withExtra({ role: last.role, content }, commonFields(last.extra, message.extra));
}

function withExtra<Message extends object>(message: Message, extra: ExtraFields) {
  return Object.keys(extra).length > 0 ? { ...message, extra } : message;
}

/** The fields that hold for both messages. */
function commonFields(first: ExtraFields = {}, second: ExtraFields = {}): ExtraFields {
  return filterFields(
    first,
    (value, name) => JSON.stringify(value) === JSON.stringify(second[name]),
  );
}

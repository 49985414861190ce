import {
  isBlankContent,
  joinContents,
  nameOf,
  withNameInText,
} from "../../shared/providers/content.ts";
import type { ExtraFields } from "../../shared/providers/provider.ts";
import type { CallerMessage } from "./conversation.ts";

interface MergeOptions {
  /** The turns that stay as they are; see `buildHistory`. */
  whole: Set<CallerMessage>;
  /** See `HistoryOptions`. */
  keepsAuthors: boolean;
}

/**
 * Joins consecutive messages of one author. Tool results stay separate: each answers its own call.
 * What a turn of `whole` is joined to is added there.
 */
export function mergeTurns(
  messages: CallerMessage[],
  { whole, keepsAuthors }: MergeOptions,
): CallerMessage[] {
  const turns: CallerMessage[] = [];
  for (const message of messages) {
    const last = turns.at(-1);
    const staysApart = !last || (keepsAuthors && nameOf(last) !== nameOf(message));
    const merged = staysApart ? undefined : mergeTurn(last, message);
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
  const isCommon = ([name, value]: [string, unknown]) =>
    JSON.stringify(value) === JSON.stringify(second[name]);
  return Object.fromEntries(Object.entries(first).filter(isCommon));
}

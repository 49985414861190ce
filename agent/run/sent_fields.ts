import { pickExtra, pickParts, thoughtOf } from "../../shared/providers/extra_fields.ts";
import { asText } from "../../shared/fields.ts";
import type {
  ChatContent,
  ChatMessage,
  ChatReply,
  ExtraFields,
} from "../../shared/providers/provider.ts";

/** In a streamed answer: the provider's own name for the thoughts, which went out under another. */
export const THOUGHTS_IN = "thoughts_in";

type AssistantMessage = Extract<ChatMessage, { role: "assistant" }>;

/**
 * What a provider sent with a reply beside its text and calls, as fields of the answer: its own
 * fields as they came, its content as it came in `content_parts`, and the model that sent them in
 * `from_model`. Callers who send these back keep a reasoning model's thoughts in the conversation.
 */
export function toSentFields({ extra, parts, from }: ChatReply): ExtraFields {
  if (from === undefined) return {};
  return { ...extra, ...(parts && { content_parts: parts }), from_model: from };
}

/**
 * Reads them from a message that a caller sends back. `known` are the names of the message's other
 * fields; `content` is used if there are no `content_parts`.
 */
export function readSentFields(
  fields: ExtraFields,
  { known, content }: { known: ReadonlySet<string>; content: ChatContent },
): Pick<AssistantMessage, "content" | "extra" | "from"> {
  const extra = pickExtra(fields, known.union(OWN_FIELDS));
  const from = asText(fields.from_model);
  const parts = pickParts(fields.content_parts);
  // Answers show all thoughts as `reasoning_content`; a provider gets back its own form alone.
  const isShownTwice = parts?.some(thoughtOf) || typeof extra?.reasoning === "string";
  if (from !== null && extra && fields[THOUGHTS_IN] === "reasoning") {
    extra.reasoning ??= extra.reasoning_content;
    delete extra.reasoning_content;
  }
  if (from !== null && isShownTwice) delete extra?.reasoning_content;
  return {
    content: parts ?? content,
    ...(extra && { extra }),
    ...(from !== null && { from }),
  };
}

const OWN_FIELDS: ReadonlySet<string> = new Set(["content_parts", "from_model", THOUGHTS_IN]);

import { asText } from "../fields.ts";
import { isBlankContent, joinContents } from "./content.ts";
import type { ChatContent, ExtraFields } from "./provider.ts";

/** A message that may have a `name` among its further fields. */
interface Authored {
  role: string;
  content: ChatContent;
  extra?: ExtraFields;
}

/** The name of the person or agent that a message is from, if it has one. */
export function nameOf({ role, extra }: Authored): string | undefined {
  if (role === "tool") return undefined;
  return asText(extra?.name)?.trim() || undefined;
}

/** The message with its author's name in front of its text, instead of in a field of its own. */
export function withNameInText<Message extends Authored>(message: Message): Message {
  const name = nameOf(message);
  if (!name) return message;
  const { content, extra: { name: _, ...fields } = {}, ...rest } = message;
  const isText = typeof content === "string";
  const named = isText ? `${name}: ${content}` : joinContents(`${name}:`, content);
  return {
    ...rest,
    content: isBlankContent(content) ? content : named,
    ...(Object.keys(fields).length > 0 && { extra: fields }),
  } as unknown as Message;
}

import type { ChatContent, ChatMessage, ContentPart, ExtraFields, ToolCall } from "./provider.ts";
import { asText } from "../service/fields.ts";

/** The text of a content; parts of other types are left out. */
export function textOf(content: ChatContent): string {
  if (typeof content === "string") return content;
  return content.map(({ text }) => typeof text === "string" ? text : "").join("");
}

/** The tool calls of a message; only an assistant's has any. */
export function toolCallsOf({ toolCalls = [] }: { role: string; toolCalls?: ToolCall[] }) {
  return toolCalls;
}

/** True if there is neither text nor any other part. */
export function isBlankContent(content: ChatContent): boolean {
  if (typeof content === "string") return content.trim() === "";
  return content.every((part) => isText(part) && part.text.trim() === "");
}

/** Two contents as one, with a blank line between their texts. */
export function joinContents(first: ChatContent, second: ChatContent): ChatContent {
  if (typeof first === "string" && typeof second === "string") return `${first}\n\n${second}`;
  return [...toParts(first), ...toParts(second)];
}

/** Removes blank texts next to other parts, such as an image: several providers refuse them. */
export function withoutBlankTexts(content: ChatContent): ChatContent {
  if (typeof content === "string" || isBlankContent(content)) return content;
  return content.filter((part) => !isPlainText(part) || !isBlankContent([part]));
}

/** Plain text as a string, everything else unchanged: many providers accept only strings. */
export function simplifyContent(parts: ContentPart[]): ChatContent {
  return parts.every(isPlainText) ? textOf(parts) : parts;
}

function toParts(content: ChatContent): ContentPart[] {
  return typeof content === "string" ? [{ type: "text", text: content }] : content;
}

function isText(part: ContentPart): part is ContentPart & { text: string } {
  return part.type === "text" && typeof part.text === "string";
}

/** A text part may carry more, such as `cache_control`. */
function isPlainText(part: ContentPart): boolean {
  return isText(part) && Object.keys(part).length === 2;
}

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

/** Limits of the images of a whole request, the latest first: they are sent with every call. */
const MAX_IMAGES = 16;
const MAX_CHARACTERS = 8_000_000;

const INTRODUCTION = "(The images that the tools returned:)";

/** True if a tool of this conversation has returned an image. */
export function hasToolImages(messages: ChatMessage[]): boolean {
  return messages.some((message) => message.role === "tool" && message.images);
}

/** The same conversation without the images of tools; their results name them. */
export function withoutToolImages(messages: ChatMessage[]): ChatMessage[] {
  return messages.map((message) => {
    if (message.role !== "tool" || !message.images) return message;
    const { images: _, ...rest } = message;
    return rest;
  });
}

/** Puts the images of tools into a user's message after the results of their turn. */
export function addToolImages(messages: ChatMessage[]): ChatMessage[] {
  if (!hasToolImages(messages)) return messages;
  const sent = chooseImages(messages);
  const all: ChatMessage[] = [];
  let pending: ContentPart[] = [];
  messages.forEach((message, index) => {
    all.push(message);
    if (message.role !== "tool") return;
    pending.push(...(message.images ?? []).filter((image) => sent.has(image)));
    if (pending.length === 0 || messages[index + 1]?.role === "tool") return;
    all.push({ role: "user", content: [{ type: "text", text: INTRODUCTION }, ...pending] });
    pending = [];
  });
  return all;
}

function chooseImages(messages: ChatMessage[]): Set<ContentPart> {
  const images = messages.flatMap((message) => message.role === "tool" ? message.images ?? [] : []);
  return new Set(limitImages(images.toReversed()));
}

/** The first images, up to the limits. */
export function limitImages(images: ContentPart[]): ContentPart[] {
  let characters = 0;
  return images.slice(0, MAX_IMAGES).filter((image) => {
    const { length } = JSON.stringify(image);
    if (characters + length > MAX_CHARACTERS) return false;
    characters += length;
    return true;
  });
}

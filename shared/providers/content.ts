import {
  type ChatContent,
  type ChatMessage,
  type ChatReply,
  type ContentPart,
  type ExtraFields,
  routeModel,
  type ToolCall,
} from "./provider.ts";
import { asText, isFields } from "../service/fields.ts";

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

/** What is nested deeper is left out: writing it as JSON again could overflow the stack. */
const MAX_LEVELS = 64;

/** How many items of a list are searched for the one that a piece continues. */
const MAX_OPEN_ITEMS = 64;

/**
 * The fields of a message or a call that are not in `known`. An empty text counts: DeepSeek wants
 * an empty `reasoning_content` back. `null` and empty lists and objects say nothing and are left
 * out. `undefined` if nothing is left.
 */
export function pickExtra(
  fields: ExtraFields,
  known: ReadonlySet<string>,
): ExtraFields | undefined {
  let extra: ExtraFields | undefined;
  for (const name in fields) {
    if (known.has(name) || saysNothing(fields[name]) || isDeep(fields[name])) continue;
    (extra ??= {})[name] = fields[name];
  }
  return extra;
}

function saysNothing(value: unknown): boolean {
  if (typeof value !== "object") return value === undefined;
  return value === null || Object.keys(value).length === 0;
}

function isDeep(value: unknown, level = 0): boolean {
  if (typeof value !== "object" || value === null) return false;
  return level === MAX_LEVELS || Object.values(value).some((inner) => isDeep(inner, level + 1));
}

/** The parts of a content, if they are more than plain text. */
export function pickParts(content: unknown): ContentPart[] | undefined {
  if (!Array.isArray(content)) return undefined;
  const parts = content.filter(isPart);
  return typeof simplifyContent(parts) === "string" ? undefined : parts;
}

function isPart(value: unknown): value is ContentPart {
  return isFields(value) && typeof value.type === "string" && !isDeep(value);
}

/** Fields whose text arrives in pieces. Of any other field the last value is kept. */
const GROWING = /(^|_)(reasoning|thinking|thought|content|text|summary|data|transcript|arguments)$/;

/**
 * Adds the fields of a further chunk to those so far, in place. Texts are joined, objects are
 * merged field by field, lists item by item if the items have an `index`, else one after the other.
 */
export function mergeExtra(sofar: ExtraFields, more: ExtraFields): void {
  for (const [name, value] of Object.entries(more)) {
    const before = sofar[name];
    if (typeof before === "string" && typeof value === "string" && GROWING.test(name)) {
      sofar[name] = before + value;
    } else if (Array.isArray(before) && Array.isArray(value)) {
      for (const item of value) addItem(before, item);
    } else if (isFields(before) && isFields(value)) {
      mergeExtra(before, value);
    } else {
      sofar[name] = structuredClone(value); // grows in place from here on
    }
  }
}

function addItem(list: unknown[], item: unknown): void {
  const index = isFields(item) && typeof item.index === "number" ? item.index : undefined;
  const known = index === undefined
    ? undefined
    : list.slice(-MAX_OPEN_ITEMS).findLast((other) => isFields(other) && other.index === index);
  const isSame = isFields(known) && isFields(item) && known.type === item.type;
  if (isSame) mergeExtra(known, item);
  else list.push(structuredClone(item));
}

/** Adds the content of a further chunk to the parts so far, in place. */
export function mergeParts(parts: ContentPart[], more: string | unknown[]): void {
  const added = typeof more === "string" ? [{ type: "text", text: more }] : more;
  for (const part of added) {
    if (!isPart(part)) continue;
    const last = parts.at(-1);
    const goesOn = last?.type === part.type && (part.type === "text" || part.type === "thinking");
    if (goesOn) mergePart(last, part);
    else parts.push(structuredClone(part));
  }
}

/** Mistral's thoughts are a list of text parts within the part. */
function mergePart(last: ContentPart, { thinking, ...rest }: ExtraFields): void {
  mergeExtra(last, rest);
  if (!Array.isArray(thinking)) return;
  if (!Array.isArray(last.thinking)) last.thinking = [];
  mergeParts(last.thinking as ContentPart[], thinking);
}

/**
 * The model's thoughts as text, from the field or the parts in which its provider sends them:
 * `reasoning_content` (DeepSeek, vLLM), `reasoning` (Ollama, OpenRouter), parts of type `thinking`
 * (Mistral).
 */
export function reasoningOf({ extra, parts }: Pick<ChatReply, "extra" | "parts">): string {
  return reasoningIn(extra ?? {}) || (parts ?? []).map(thoughtOf).join("");
}

/** Whether a reply has more than text and thoughts: OpenAI's `audio`, OpenRouter's `images`, parts. */
export function hasMedia({ extra, parts }: Pick<ChatReply, "extra" | "parts">): boolean {
  if (extra?.audio || extra?.images) return true;
  return (parts ?? []).some(({ type }) => type !== "text" && type !== "thinking");
}

/** `reasoningOf` a message's or a chunk's own fields. */
export function reasoningIn({ reasoning_content, reasoning }: ExtraFields): string {
  if (typeof reasoning_content === "string") return reasoning_content;
  return typeof reasoning === "string" ? reasoning : "";
}

/** The text of a part of type `thinking`; empty for any other. */
export function thoughtOf(part: unknown): string {
  if (!isFields(part) || part.type !== "thinking") return "";
  if (typeof part.thinking === "string") return part.thinking;
  if (!Array.isArray(part.thinking)) return "";
  const texts = part.thinking.map((piece) => isFields(piece) ? piece.text : undefined);
  return texts.filter((text) => typeof text === "string").join("");
}

/**
 * True if two models are of one provider: both are fine-tuned ones, or the parts of their ids
 * before the last slash are equal. All bare ids of a hub count as one provider.
 */
export function isSameProvider(model: string, other: string): boolean {
  return model === other || providerOf(model) === providerOf(other);
}

function providerOf(id: string): string {
  const { target, model } = routeModel(id);
  if (target === "studio") return "studio:"; // no prefix of a hub model ends so
  return model.slice(0, Math.max(0, model.lastIndexOf("/")));
}

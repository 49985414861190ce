import type { ChatMessage, ContentPart } from "./provider.ts";

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

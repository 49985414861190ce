import type { ChatContent, ContentPart } from "./provider.ts";

/** The text of a content; parts of other types are left out. */
export function textOf(content: ChatContent): string {
  if (typeof content === "string") return content;
  return content.map(({ text }) => typeof text === "string" ? text : "").join("");
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

/** The same without blank texts beside other parts, such as an image: several providers refuse them. */
export function withoutBlankTexts(content: ChatContent): ChatContent {
  if (typeof content === "string" || isBlankContent(content)) return content;
  return content.filter((part) => !isPlainText(part) || !isBlankContent([part]));
}

/** Plain text as text, everything else as it is: many providers take only text. */
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

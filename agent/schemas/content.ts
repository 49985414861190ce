import { z } from "zod";
import { simplifyContent } from "../../shared/providers/content.ts";
import type { ChatContent, ContentPart } from "../../shared/providers/provider.ts";

/** Images, audio and files in one conversation. */
const MAX_MEDIA = 100;
/** Characters of all of them together; most of it is base64. */
const MAX_MEDIA_CHARACTERS = 20_000_000;

/** One part of a content. Which types are taken is the provider's decision. */
const Part = z.union([
  z.string().transform((text): ContentPart => ({ type: "text", text })),
  z.looseObject({ type: z.string() }).transform(toOpenAIPart),
]);

/** Text, or a list of parts: OpenAI's, or LangChain's content blocks. Plain text becomes text. */
export const Content = z.union([
  z.string(),
  z.array(Part).transform((parts): ChatContent => simplifyContent(parts)),
]);

/** Refuses a conversation with too many images, sounds and files, or too large ones. */
export function limitMedia(
  messages: { content: ChatContent }[],
  context: z.RefinementCtx,
): void {
  let count = 0;
  let characters = 0;
  for (const { content } of messages) {
    if (typeof content === "string") continue;
    for (const part of content) {
      if (part.type === "text") continue;
      count++;
      characters += JSON.stringify(part).length;
    }
  }
  const message = count > MAX_MEDIA
    ? `has ${count} images, sounds and files; at most ${MAX_MEDIA} are accepted`
    : characters > MAX_MEDIA_CHARACTERS
    ? `has images, sounds and files of over ${MAX_MEDIA_CHARACTERS} characters`
    : undefined;
  if (message) context.addIssue({ code: "custom", message });
}

/** LangChain's content blocks, and names that OpenAI uses elsewhere, as parts of a chat message. */
function toOpenAIPart(part: ContentPart): ContentPart {
  switch (part.type) {
    case "input_text":
    case "output_text":
      return { type: "text", text: String(part.text ?? "") };
    case "refusal":
      return { type: "text", text: String(part.refusal ?? "") };
    case "text":
      return typeof part.text === "string" ? part : { ...part, text: "" };
    case "image_url":
      return typeof part.image_url === "string"
        ? { ...part, image_url: { url: part.image_url } }
        : part;
    case "image":
      return dataOf(part) ? { type: "image_url", image_url: { url: urlOf(part) } } : part;
    case "audio":
      return dataOf(part) ? toInputAudio(part) : part;
    case "file":
      return dataOf(part) ? toFile(part) : part;
    default:
      return part;
  }
}

/** A block's base64 or address. Its newer form has no `source_type`. */
function dataOf({ data, base64, url }: ContentPart): string | undefined {
  return [data, base64, url].find((value) => typeof value === "string");
}

function urlOf(part: ContentPart): string {
  if (typeof part.url === "string") return part.url;
  return `data:${part.mime_type ?? "application/octet-stream"};base64,${dataOf(part)}`;
}

function toInputAudio(part: ContentPart): ContentPart {
  const subtype = String(part.mime_type ?? "").split("/")[1] ?? "";
  const format = subtype === "mpeg" ? "mp3" : subtype.replace(/^x-/, "") || "wav";
  return { type: "input_audio", input_audio: { data: dataOf(part), format } };
}

function toFile(part: ContentPart): ContentPart {
  const { filename = "file" } = { ...(part.metadata as object), ...part } as { filename?: string };
  return { type: "file", file: { filename, file_data: urlOf(part) } };
}

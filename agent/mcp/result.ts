import { asFields, type Fields } from "../../shared/service/fields.ts";
import type { ContentPart } from "../../shared/providers/provider.ts";
import { AnswerTooLarge } from "../../shared/http/outgoing_fetch.ts";
import { MAX_MESSAGE_BYTES } from "./transport.ts";

/** Limits of the images of one result; the others are only named. */
const MAX_IMAGES = 8;
const MAX_IMAGE_CHARACTERS = 4_000_000;
/** Types that models accept. They refuse a request with any other, and would then be sent no images. */
const IMAGE_TYPE = /^image\/(png|jpe?g|gif|webp)(?![^;\s])/i;

/**
 * Reads the result of a call, whose parts may differ from the protocol, as a tool returns it. The
 * text names each image too, and other content by its type.
 */
export function readResult(
  { content, structuredContent }: { content?: unknown; structuredContent?: unknown },
): { text: string; images: ContentPart[] } {
  const parts = [content ?? []].flat().map(toPart);
  const texts = parts.map(describePart).filter(Boolean);
  const text = texts.length === 0 && structuredContent !== undefined
    ? JSON.stringify(structuredContent)
    : texts.join("\n\n");
  return { text, images: readImages(parts) };
}

function toPart(part: unknown): Fields {
  return typeof part === "string" ? { type: "text", text: part } : asFields(part);
}

function readImages(parts: Fields[]): ContentPart[] {
  const images: ContentPart[] = [];
  let characters = 0;
  for (const { data, mimeType } of parts.map(binaryOf)) {
    const isImage = typeof data === "string" && data !== "" &&
      typeof mimeType === "string" && IMAGE_TYPE.test(mimeType);
    if (!isImage || images.length === MAX_IMAGES) continue;
    if (characters + data.length > MAX_IMAGE_CHARACTERS) continue;
    characters += data.length;
    images.push({ type: "image_url", image_url: { url: `data:${mimeType};base64,${data}` } });
  }
  return images;
}

/** The base64 data of a part, and its type. */
function binaryOf({ type, data, mimeType, resource }: Fields): Fields {
  if (type === "image") return { data, mimeType };
  const { blob, mimeType: resourceType } = asFields(resource);
  return type === "resource" ? { data: blob, mimeType: resourceType } : {};
}

function describePart(part: Fields): string {
  switch (part.type) {
    case "text":
      return String(part.text ?? "");
    case "resource": {
      const { text, uri, mimeType } = asFields(part.resource);
      return typeof text === "string" ? text : `(a resource: ${uri ?? mimeType ?? "unnamed"})`;
    }
    case "resource_link":
      return `(a link: ${part.name ?? ""} ${part.uri ?? ""})`;
    default:
      return `(${part.type ?? "something"}: ${part.mimeType ?? "unknown type"})`;
  }
}

/** True for an error that the server sent by the protocol, as one without `ping` does. */
export function isAnswer(error: unknown): error is Error {
  return error instanceof Error && error.name === "ProtocolError";
}

/** The status of the HTTP answer that an error of the SDK is about. */
export function statusOf(error: unknown): number | undefined {
  const { status, code } = error as { status?: unknown; code?: unknown };
  return [status, code].find((value) => typeof value === "number" && value >= 100) as
    | number
    | undefined;
}

/** MCP over HTTP: 404 in answer to a request of a session means that it has ended. */
export function isForgotten(error: unknown): boolean {
  return error instanceof Error && statusOf(error) === 404;
}

/**
 * The message of an error that the server sent by the protocol, without its codes and without
 * secrets. Other errors are not shown: those of a transport contain the raw body of an answer, or an
 * address with its query.
 */
export function explainCall(error: unknown, redact: (text: string) => string): string | undefined {
  if (error instanceof AnswerTooLarge) return `its result is over ${MAX_MESSAGE_BYTES} bytes`;
  if (!isAnswer(error)) return undefined;
  return redact(error.message.replace(/^(MCP error -?\d+: )+/, ""));
}

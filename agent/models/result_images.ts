import { textOf } from "../../shared/providers/content.ts";
import type { ChatMessage, ContentPart } from "../../shared/providers/provider.ts";
import type { Adaptation } from "./adapted_requests.ts";

/**
 * Results of the caller's tools are sent as they are. OpenAI and others refuse images in them, and
 * get those after the results, as the images of the agent's tools.
 */
export const RESULT_IMAGES: Adaptation = {
  applies: ({ messages, rawMessages }) => !rawMessages && messages.some(hasImages),
  adapt: (request) => ({
    ...request,
    messages: request.messages.map(withImagesApart),
    keepsImages: true,
  }),
  isRefusal: (status) => [400, 422].includes(status),
};

function isImage({ type }: ContentPart): boolean {
  return type === "image_url";
}

function hasImages({ role, content }: ChatMessage): boolean {
  return role === "tool" && typeof content !== "string" && content.some(isImage);
}

function withImagesApart(message: ChatMessage): ChatMessage {
  const { role, content } = message;
  if (role !== "tool" || typeof content === "string" || !hasImages(message)) return message;
  const images = content.filter(isImage);
  const named = content.map((part) => isImage(part) ? "(an image)" : textOf([part]));
  return { ...message, content: named.filter(Boolean).join("\n\n"), images };
}

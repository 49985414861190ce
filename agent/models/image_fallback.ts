import { hasToolImages, withoutToolImages } from "../../shared/providers/tool_images.ts";
import type { Adaptation } from "./adapted_requests.ts";

/** Models get the images of tools as long as they take them. */
export const IMAGE_FALLBACK: Adaptation = {
  applies: ({ messages, keepsImages }) => !keepsImages && hasToolImages(messages),
  adapt: (request) => ({ ...request, messages: withoutToolImages(request.messages) }),
  // OpenRouter answers 404 if no provider of the model takes images.
  isRefusal: (status) => [400, 404, 413, 415, 422].includes(status),
};

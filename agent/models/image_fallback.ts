import type { ChatProvider } from "../../shared/providers/provider.ts";
import { hasToolImages, withoutToolImages } from "../../shared/providers/tool_images.ts";
import { withAdaptation } from "./adapted_requests.ts";

/** A provider that gets the images of tools as long as it takes them. */
export function withImageFallback<P extends ChatProvider>(provider: P): P {
  return withAdaptation(provider, {
    applies: ({ messages }) => hasToolImages(messages),
    adapt: (request) => ({ ...request, messages: withoutToolImages(request.messages) }),
    // OpenRouter answers 404 if no provider of the model takes images.
    isRefusal: (status) => [400, 404, 413, 415, 422].includes(status),
  });
}

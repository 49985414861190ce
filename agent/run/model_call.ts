import {
  type CallOptions,
  type ChatProvider,
  type ChatReply,
  type ChatRequest,
  ProviderError,
} from "../../shared/providers/provider.ts";
import type { Emit } from "./events.ts";

/** Calls a model once. The answer is streamed if `emit` is given. */
export function callModel(
  request: ChatRequest,
  { provider, signal, emit }: { provider: ChatProvider; emit?: Emit | undefined } & CallOptions,
): Promise<ChatReply> {
  const options: CallOptions = signal ? { signal } : {};
  if (!emit) return provider.complete(request, options);
  return readStream(provider, { request, options, emit });
}

async function readStream(
  provider: ChatProvider,
  { request, options, emit }: { request: ChatRequest; options: CallOptions; emit: Emit },
): Promise<ChatReply> {
  for await (const delta of provider.stream(request, options)) {
    if (delta.type === "reply") return delta.reply;
    await emit(delta.type === "text" ? { ...delta, type: "token" } : delta);
  }
  throw new ProviderError(
    502,
    "provider_error",
    `cannot use the answer of ${provider.name}: the stream ended without a reply`,
    { kind: "unreadable" },
  );
}

import { loadApart } from "../../shared/lazy.ts";
import type { ChatProvider, ModelLister } from "../../shared/providers/provider.ts";

/** A provider whose code is loaded by its first call, or earlier by `load`. */
export interface LazyProvider extends ChatProvider, ModelLister {
  load(): Promise<void>;
}

/** `create` is called once. If it fails, the next call tries again. */
export function createLazyProvider(
  name: string,
  create: () => Promise<ChatProvider & ModelLister>,
): LazyProvider {
  let created: (ChatProvider & ModelLister) | undefined;
  let pending: Promise<ChatProvider & ModelLister> | undefined;

  function load(): Promise<ChatProvider & ModelLister> {
    pending ??= loadApart(create).then((provider) => created = provider).finally(() =>
      pending = undefined
    );
    return pending;
  }

  return {
    name,
    load: async () => void (created ?? await load()),
    complete: async (...call) => await (created ?? await load()).complete(...call),
    listModels: async (...call) => await (created ?? await load()).listModels(...call),
    stream: (...call) => created ? created.stream(...call) : streamLater(load(), call),
  };
}

async function* streamLater(
  loading: Promise<ChatProvider>,
  call: Parameters<ChatProvider["stream"]>,
) {
  yield* (await loading).stream(...call);
}

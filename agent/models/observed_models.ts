import type { Metrics } from "../../shared/ops/metrics.ts";
import { observeProvider } from "../../shared/ops/observed_provider.ts";
import type { ChatProvider } from "../../shared/providers/provider.ts";
import type { Models } from "./models.ts";

/** The same models, whose calls are counted and traced. */
export function observeModels(models: Models, metrics: Metrics): Models {
  const observed = new WeakMap<ChatProvider, ChatProvider>();
  return {
    ...models,
    providerFor(target) {
      const provider = models.providerFor(target);
      const known = observed.get(provider) ?? observeProvider(provider, metrics);
      observed.set(provider, known);
      return known;
    },
  };
}

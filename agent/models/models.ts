import { counted } from "../../shared/counted.ts";
import { AppError } from "../../shared/errors.ts";
import { createOutgoingFetch } from "../../shared/http/fetch/outgoing_fetch.ts";
import type { Logger } from "../../shared/log.ts";
import type { Metrics } from "../../shared/ops/metrics.ts";
import { observeProvider } from "../../shared/ops/observed_provider.ts";
import { callersTraceparent } from "../../shared/ops/tracing.ts";
import type { ChatProvider } from "../../shared/providers/provider.ts";
import { createRedactor, listSecrets } from "../../shared/redaction.ts";
import type { RoutedModel } from "../../shared/routing.ts";
import type { AgentConfig } from "../config.ts";
import { withAdaptations } from "../../shared/providers/adapted_requests.ts";
import { ADAPTATIONS } from "../../shared/providers/adaptations.ts";
import { DEMO_MODEL, DEMO_STUDIO } from "./demo_names.ts";
import { createLazyProvider, type LazyProvider } from "./lazy_provider.ts";
import {
  createHubModels,
  createStudioModels,
  type HubModelList,
  listAliases,
  type StudioModelList,
} from "./model_lists.ts";

/** Which provider a model id leads to; see `RoutedModel`. */
export type RouteTarget = NonNullable<RoutedModel["target"]>;

/** The models that can answer. */
export interface Models {
  /** Set if nothing is configured: the embedded demo of that name answers every request. */
  readonly demoModel?: string;
  /** Throws 503 if the target is not configured. */
  providerFor(target: RouteTarget): ChatProvider;
  listStudio: StudioModelList;
  listHub: HubModelList;
  /** Loads the code of the providers, so that the first run does not wait for it. */
  load?(): Promise<void>;
}

/** Creates the configured providers. Sends no request to any of them. */
export function createModels(config: AgentConfig, log: Logger): Models {
  const { HUB_BASE_URL, STUDIO_BASE_URL, STUDIO_MODELS } = config;
  if (!HUB_BASE_URL && !STUDIO_BASE_URL && !STUDIO_MODELS) return createDemoModels(config);

  const redact = createRedactor(listSecrets(config));
  const hub = connect({
    name: "hub",
    baseUrl: HUB_BASE_URL,
    apiKey: config.HUB_API_KEY,
    keyVariable: "HUB_API_KEY",
  });
  const studio = connect({
    name: "studio",
    baseUrl: STUDIO_BASE_URL,
    apiKey: config.STUDIO_API_KEY,
    keyVariable: "STUDIO_API_KEY",
  });

  function connect({ name, baseUrl, apiKey, keyVariable }: {
    name: string;
    baseUrl: string | undefined;
    apiKey: string | undefined;
    keyVariable: string;
  }): LazyProvider | undefined {
    if (!baseUrl) return undefined;
    const options = {
      name,
      baseUrl,
      ...(apiKey && { apiKey }),
      keyVariable,
      redact,
      timeoutMs: config.MODEL_TIMEOUT_MS,
      streamTimeoutMs: Math.max(config.MODEL_STREAM_TIMEOUT_MS, config.MODEL_TIMEOUT_MS),
      retries: config.MODEL_RETRIES,
      fetch: createOutgoingFetch({ traceparent: callersTraceparent }),
    };
    return createLazyProvider(name, async () => {
      const { createOpenAIProvider, loadOpenAI } = await import(
        "../../shared/providers/openai_provider.ts"
      );
      await loadOpenAI();
      return withAdaptations(createOpenAIProvider(options), Object.values(ADAPTATIONS));
    });
  }

  return {
    providerFor(target) {
      const provider = target === "hub" ? hub : studio;
      if (provider) return provider;
      const [kind, variable] = target === "hub"
        ? ["a hub model", "HUB_BASE_URL"]
        : ["a fine-tuned model", "STUDIO_BASE_URL"];
      throw new AppError(
        503,
        "provider_not_configured",
        `cannot ask ${kind}: its provider is not configured; set ${variable}`,
      );
    },
    listStudio: createStudioModels({
      log,
      ...(STUDIO_MODELS && { fixed: STUDIO_MODELS }),
      ...(studio && { lister: studio }),
    }),
    listHub: hub
      ? createHubModels(hub, { log, rules: config })
      : () => Promise.resolve({ models: listAliases(config), hidden: [] }),
    load: async () => void await Promise.all([hub?.load(), studio?.load()]),
  };
}

function createDemoModels(config: AgentConfig): Models {
  const demo = createLazyProvider("demo", async () => {
    const { createDemoProvider } = await import("./demo.ts");
    return createDemoProvider();
  });
  const own = { id: DEMO_MODEL, name: DEMO_MODEL };
  return {
    demoModel: DEMO_MODEL,
    providerFor: () => demo,
    listStudio: () => Promise.resolve({ [DEMO_STUDIO.name]: DEMO_STUDIO.id }),
    listHub: () => Promise.resolve({ models: [...listAliases(config), own], hidden: [] }),
    load: () => demo.load(),
  };
}

/** The same models, with every call counted and traced. */
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

/** Why models of the hub are hidden, and what to do. */
export function explainHidden(hidden: string[]): string {
  return `${
    counted(hidden.length, "model")
  } of the hub cannot be asked: an id without <provider>/ is refused; ` +
    "set HUB_BARE_MODELS=on to send such ids to the hub";
}

import { counted } from "../../../shared/service/text.ts";
import { AppError } from "../../../shared/service/errors.ts";
import { createOutgoingFetch } from "../../../shared/http/outgoing_fetch.ts";
import { createRedactor, listSecrets, type Logger } from "../../../shared/service/log.ts";
import type { Metrics } from "../../../shared/service/ops/metrics.ts";
import { observeProvider } from "../../../shared/service/ops/observed_provider.ts";
import { callersTraceparent } from "../../../shared/service/ops/tracing.ts";
import {
  type ChatProvider,
  type ModelLister,
  PROVIDER_NAMES,
  type ProviderName,
  PROVIDERS,
  settingsOf,
} from "../../../shared/providers/provider.ts";
import type { AgentConfig } from "../../config.ts";
import { withAdaptations } from "../../../shared/providers/adapted_requests.ts";
import { ADAPTATIONS } from "../../../shared/providers/adaptations.ts";
import { DEMO_MODEL, DEMO_STUDIO } from "./choice.ts";
import {
  createHubModels,
  createStudioModels,
  type HubModelList,
  listAliases,
  type StudioModelList,
} from "./model_lists.ts";
import { loadOnce } from "../../../shared/service/waiting.ts";

/** The models that can answer. */
export interface Models {
  /** Set if nothing is configured: the embedded demo of that name answers every request. */
  readonly demoModel?: string;
  /** Throws 503 if the target is not configured. */
  providerFor(target: ProviderName): ChatProvider;
  listStudio: StudioModelList;
  listHub: HubModelList;
  /** Loads the code of the providers, so that the first run does not wait for it. */
  load?(): Promise<void>;
}

/** Creates the configured providers. Sends no request to any of them. */
export function createModels(config: AgentConfig, log: Logger): Models {
  const { STUDIO_MODELS } = config;
  const providers = new Map(PROVIDER_NAMES.flatMap((name) => {
    const provider = connect(name);
    return provider ? [[name, provider]] : [];
  }));
  if (providers.size === 0 && !STUDIO_MODELS) return createDemoModels(config);
  const hub = providers.get("hub");

  function connect(name: ProviderName): LazyProvider | undefined {
    const { address, key } = settingsOf(name);
    const { [address]: baseUrl, [key]: apiKey } = config;
    if (!baseUrl) return undefined;
    const options = {
      name,
      baseUrl,
      apiKey,
      keyVariable: key,
      redact: createRedactor(listSecrets(config)),
      timeoutMs: config.MODEL_TIMEOUT_MS,
      retries: config.MODEL_RETRIES,
      fetch: createOutgoingFetch({ traceparent: callersTraceparent }),
    };
    return createLazyProvider({ name, address: baseUrl }, async () => {
      const { createOpenAIProvider, loadOpenAI } = await import(
        "../../../shared/providers/openai_client.ts"
      );
      await loadOpenAI();
      return withAdaptations(createOpenAIProvider(options), Object.values(ADAPTATIONS));
    });
  }

  return {
    providerFor(target) {
      const provider = providers.get(target);
      if (provider) return provider;
      const { address } = settingsOf(target);
      throw new AppError(
        503,
        "provider_not_configured",
        `cannot ask ${PROVIDERS[target].asked}: its provider is not configured; set ${address}`,
      );
    },
    listStudio: createStudioModels({ log, fixed: STUDIO_MODELS, lister: providers.get("studio") }),
    listHub: hub
      ? createHubModels(hub, { log, rules: config })
      : () => Promise.resolve({ models: listAliases(config), hidden: [] }),
    load: async () => void await Promise.all([...providers.values()].map(({ load }) => load())),
  };
}

function createDemoModels(config: AgentConfig): Models {
  const demo = createLazyProvider({ name: "demo" }, async () => {
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
export function observeModels(
  models: Models,
  options: { metrics: Metrics; recordsMessages: boolean },
): Models {
  return {
    ...models,
    providerFor: (target) => observeProvider(models.providerFor(target), options),
  };
}

/** Why models of the hub are hidden, and what to do. */
export function explainHidden(hidden: string[]): string {
  return `${
    counted(hidden.length, "model")
  } of the hub cannot be asked: an id without <provider>/ is refused; ` +
    "set HUB_BARE_MODELS=on to send such ids to the hub";
}

/** A provider whose code is loaded by its first call, or earlier by `load`. */
interface LazyProvider extends ChatProvider, ModelLister {
  load(): Promise<void>;
}

/** `create` is called once; see `loadOnce`. */
export function createLazyProvider(
  about: { name: string; address?: string },
  create: () => Promise<ChatProvider & ModelLister>,
): LazyProvider {
  let created: (ChatProvider & ModelLister) | undefined;
  const load = loadOnce(async () => created = await create());

  return {
    ...about,
    load: async () => void await load(),
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

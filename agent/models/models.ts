import { AppError } from "../../shared/errors.ts";
import { createSameOriginFetch } from "../../shared/http/same_origin_fetch.ts";
import type { Logger } from "../../shared/log.ts";
import { createTracedFetch } from "../../shared/ops/traced_fetch.ts";
import { createDemoProvider, DEMO_MODEL, DEMO_STUDIO } from "./demo.ts";
import type { ChatProvider } from "../../shared/providers/provider.ts";
import { createStudioModels } from "./studio.ts";
import type { Route } from "../../shared/routing.ts";
import type { StudioModels } from "../../shared/schemas/agent.ts";
import type { AgentConfig } from "../config.ts";
import { createHubModels, type HubModelList } from "./hub_models.ts";
import { createLazyProvider, type LazyProvider } from "./lazy_provider.ts";

/** The targets that a route can have; see `Route`. */
export type Target = NonNullable<Route["target"]>;

/** The models that this agent can be backed by. */
export interface Models {
  /** Set where nothing is configured, and the embedded demo of that name answers for all. */
  readonly demoModel?: string;
  /** Throws 503 where the target is not configured. */
  providerFor(target: Target): ChatProvider;
  /** Throws a `ProviderError` where the provider's list could never be read. */
  listStudio(signal?: AbortSignal): Promise<StudioModels>;
  /** The hub's models; empty where it lists none. */
  listHub: HubModelList;
  /** Loads the code of the providers, so that the first run does not wait for it. */
  load?(): Promise<void>;
}

/** Wires the providers that the configuration names; asks none of them anything. */
export function createModels(config: AgentConfig, log: Logger): Models {
  const { HUB_BASE_URL, STUDIO_BASE_URL, STUDIO_MODELS } = config;
  if (!HUB_BASE_URL && !STUDIO_BASE_URL && !STUDIO_MODELS) return createDemoModels();

  const hub = connect({ name: "hub", baseUrl: HUB_BASE_URL, apiKey: config.HUB_API_KEY });
  const studio = connect({
    name: "studio",
    baseUrl: STUDIO_BASE_URL,
    apiKey: config.STUDIO_API_KEY,
  });
  const listed = createStudioModels({
    log,
    ...(STUDIO_MODELS && { fixed: STUDIO_MODELS }),
    ...(studio && { lister: studio }),
  });

  function connect({ name, baseUrl, apiKey }: {
    name: string;
    baseUrl: string | undefined;
    apiKey: string | undefined;
  }): LazyProvider | undefined {
    if (!baseUrl) return undefined;
    const options = {
      name,
      baseUrl,
      ...(apiKey && { apiKey }),
      timeoutMs: config.MODEL_TIMEOUT_MS,
      streamTimeoutMs: Math.max(config.MODEL_STREAM_TIMEOUT_MS, config.MODEL_TIMEOUT_MS),
      retries: config.MODEL_RETRIES,
      fetch: createSameOriginFetch(createTracedFetch(fetch)),
    };
    return createLazyProvider(name, async () => {
      const { createOpenAIProvider } = await import("./openai_provider.ts");
      return createOpenAIProvider(options);
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
        `cannot ask ${kind}: the service is not configured for it; set ${variable}`,
      );
    },
    listStudio: (signal) => listed.list(signal),
    listHub: hub ? createHubModels(hub, { log }) : () => Promise.resolve([]),
    load: async () => void await Promise.all([hub?.load(), studio?.load()]),
  };
}

function createDemoModels(): Models {
  const demo = createDemoProvider();
  return {
    demoModel: DEMO_MODEL,
    providerFor: () => demo,
    listStudio: () => Promise.resolve({ [DEMO_STUDIO.name]: DEMO_STUDIO.id }),
    listHub: () => Promise.resolve([{ id: DEMO_MODEL, name: DEMO_MODEL }]),
  };
}

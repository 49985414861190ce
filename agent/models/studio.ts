import { abortError, untilAbort } from "../../shared/abort.ts";
import { type Logger, silentLogger } from "../../shared/log.ts";
import { routeModel } from "../../shared/routing.ts";
import type { StudioModels } from "../../shared/schemas/agent.ts";
import {
  type ListedModel,
  type ModelLister,
  ProviderError,
} from "../../shared/providers/provider.ts";

export interface StudioModelsOptions {
  /** Names to ids, from the configuration. Where it is set, no provider is asked. */
  fixed?: Record<string, string>;
  lister?: ModelLister;
  /** Milliseconds; only differences count. */
  now?: () => number;
  /** How long a list is good for, and how long a failed renewal keeps us from the next. */
  ttlMs?: number;
  log?: Logger;
}

/** The list of fine-tuned models. */
export interface StudioModelList {
  /**
   * Names to UUIDs; empty where nothing is configured. Throws a `ProviderError` of status 502 where
   * the provider's list could not be read even once; later, the last one read is served.
   */
  list(signal?: AbortSignal): Promise<StudioModels>;
}

/** Asks the provider at most once in `ttlMs`, however many ask us. */
export function createStudioModels(options: StudioModelsOptions): StudioModelList {
  const { fixed, lister, now = Date.now, ttlMs = 60_000, log = silentLogger } = options;
  if (fixed) {
    const models = Object.entries(fixed).map(([name, id]) => ({ name, id }));
    const list = toStudioModels(models);
    return { list: () => Promise.resolve(list) };
  }
  if (!lister) return { list: () => Promise.resolve({}) };
  const asked = lister;

  let known: StudioModels | undefined;
  let askedAt = 0;
  let pending: Promise<StudioModels> | undefined;

  /** Bound to no caller's signal: others may be waiting for the same answer. */
  function fetchOnce(): Promise<StudioModels> {
    pending ??= fetchList().finally(() => pending = undefined);
    return pending;
  }

  async function fetchList(): Promise<StudioModels> {
    askedAt = now();
    known = toStudioModels(await asked.listModels());
    return known;
  }

  return {
    async list(signal) {
      if (signal?.aborted) throw abortError(signal);
      if (!known) return await untilAbort(fetchOnce().catch(rethrowAs502), signal);
      if (now() - askedAt >= ttlMs) {
        fetchOnce().catch((error) => {
          log.warn("the list of fine-tuned models is out of date: its renewal failed", { error });
        });
      }
      return known;
    },
  };
}

/** Ids that could not be routed to the studio are left out; a repeated name gets ` (2)`. */
function toStudioModels(models: ListedModel[]): StudioModels {
  const named = new Map<string, string>();
  const last = new Map<string, number>(); // the number that a name got last
  for (const { id, name } of models) {
    const route = routeModel(id);
    if (route.target !== "studio") continue;
    let free = name;
    let number = last.get(name) ?? 1;
    while (named.has(free)) free = `${name} (${++number})`;
    last.set(name, number);
    named.set(free, route.model);
  }
  return Object.fromEntries(named);
}

/** Whatever kept the provider from answering, to our caller it is a bad gateway. */
function rethrowAs502(error: unknown): never {
  if (!(error instanceof ProviderError) || error.status === 502) throw error;
  throw new ProviderError(502, "provider_error", error.message, error.failure, { cause: error });
}

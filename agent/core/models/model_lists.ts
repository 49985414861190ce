import { abortError, untilAbort } from "../../../shared/service/waiting.ts";
import { AppError } from "../../../shared/service/errors.ts";
import { type Logger, silentLogger } from "../../../shared/service/log.ts";
import {
  type ListedModel,
  type ModelLister,
  ProviderError,
  routeModel,
} from "../../../shared/providers/provider.ts";
import { type ModelRules, resolveModel } from "./choice.ts";
import { MAX_MODELS } from "../../../shared/providers/openai_messages.ts";
import type { StudioModels } from "../agent_message.ts";

const TTL_MS = 60_000;
const HUB_TIMEOUT_MS = 5_000;

/** Not `Date.now`: if the clock were set back, a list would not be renewed for that long. */
const steadyNow = () => performance.now();

interface ModelListOptions {
  log?: Logger;
  /** Milliseconds of a clock that is never set; only differences count. */
  now?: () => number;
}

const CUT = `the hub lists more models than ${
  MAX_MODELS.toLocaleString("en")
}: the rest is left out`;

/** The models of the hub. */
interface HubModels {
  /** Those that can be asked, aliases first. */
  models: ListedModel[];
  /** The ids that the hub lists and no request can name; see `resolveModel`. */
  hidden: string[];
  /** Set if the hub's current list could not be read, or not all of it: the reason. */
  error?: string;
}

/** Lists the models of the hub. Never fails: not every hub lists them. */
export type HubModelList = (signal?: AbortSignal) => Promise<HubModels>;

interface HubModelsOptions extends ModelListOptions {
  rules: ModelRules;
  timeoutMs?: number;
}

/** The configured aliases as models; the name of each is the model that it stands for. */
export function listAliases({ MODEL_ALIASES = {} }: ModelRules): ListedModel[] {
  return Object.entries(MODEL_ALIASES).map(([id, name]) => ({ id, name }));
}

/** Callers wait for a renewal. If it fails, they get the last list, or that of the aliases. */
export function createHubModels(
  lister: ModelLister,
  { rules, log = silentLogger, now = steadyNow, timeoutMs = HUB_TIMEOUT_MS }: HubModelsOptions,
): HubModelList {
  const aliases = listAliases(rules);
  return createCachedList<HubModels>({
    async read() {
      const all = await lister.listModels({ timeoutMs });
      const listed = all.slice(0, MAX_MODELS);
      const targetOf = ({ id }: ListedModel) => resolveModel(id, rules).target;
      return {
        models: [...aliases, ...listed.filter((model) => targetOf(model) === "hub")],
        hidden: listed.filter((model) => targetOf(model) === null).map(({ id }) => id),
        ...(all.length > MAX_MODELS && { error: CUT }),
      };
    },
    onFailure(error, last = { models: aliases, hidden: [] }) {
      log.warn("cannot list the models of the hub", { error });
      const reason = error instanceof AppError ? error.message : "cannot list the models of hub";
      return { ...last, error: reason };
    },
    servesLast: false,
    now,
  });
}

/**
 * Lists the fine-tuned models, names to UUIDs. Throws a `ProviderError` of status 502 if the
 * provider's list has never been read.
 */
export type StudioModelList = (signal?: AbortSignal) => Promise<StudioModels>;

interface StudioModelsOptions extends ModelListOptions {
  /** Names to ids, from the configuration. If it is set, no provider is asked. */
  fixed?: Record<string, string> | undefined;
  /** If it is unset too, the list is empty. */
  lister?: ModelLister | undefined;
}

/** Callers get the last list while a new one is read. If that fails, they keep the last list. */
export function createStudioModels(options: StudioModelsOptions): StudioModelList {
  const { fixed, lister, now = steadyNow, log = silentLogger } = options;
  if (fixed) {
    const models = Object.entries(fixed).map(([name, id]) => ({ name, id }));
    const list = toStudioModels(models);
    return () => Promise.resolve(list);
  }
  if (!lister) return () => Promise.resolve({});
  return createCachedList<StudioModels>({
    read: async () => toStudioModels(await lister.listModels()),
    onFailure(error, last) {
      if (!last) throw toBadGateway(error);
      log.warn("cannot renew the list of fine-tuned models: serving the last one", { error });
      return last;
    },
    servesLast: true,
    now,
  });
}

interface ListSource<List> {
  read(): Promise<List>;
  /** Returns what callers get instead, or throws what they see. */
  onFailure(error: unknown, last: List | undefined): List;
  /** Whether callers get the last list during a renewal, instead of waiting for it. */
  servesLast: boolean;
  now: () => number;
}

/** Reads the list at most once a minute, also if reading fails but `onFailure` has a list. */
function createCachedList<List>(
  { read, onFailure, servesLast, now }: ListSource<List>,
): (signal?: AbortSignal) => Promise<List> {
  let last: List | undefined;
  let readAt = 0;
  let pending: Promise<List> | undefined;

  async function renew(): Promise<List> {
    readAt = now();
    try {
      last = await read();
    } catch (error) {
      last = onFailure(error, last);
    }
    return last;
  }

  return async (signal) => {
    if (signal?.aborted) throw abortError(signal);
    // Not bound to the caller's signal: other callers may be waiting for the same answer.
    if (!last || now() - readAt >= TTL_MS) pending ??= renew().finally(() => pending = undefined);
    if (last && (servesLast || !pending)) return last;
    return await untilAbort(pending!, signal);
  };
}

/** Ids that cannot be routed to the studio are left out; a repeated name gets ` (2)`. */
function toStudioModels(models: ListedModel[]): StudioModels {
  const named = new Map<string, string>();
  const numbers = new Map<string, number>(); // the last number of each repeated name
  for (const { id, name } of models) {
    const route = routeModel(id);
    if (route.target !== "studio") continue;
    let free = name;
    let number = numbers.get(name) ?? 1;
    while (named.has(free)) free = `${name} (${++number})`;
    numbers.set(name, number);
    named.set(free, route.model);
  }
  return Object.fromEntries(named);
}

/** Any failure of the provider is a bad gateway to the caller of this list. */
function toBadGateway(error: unknown): unknown {
  if (!(error instanceof ProviderError) || error.status === 502) return error;
  return new ProviderError(502, "provider_error", error.message, error.failure, { cause: error });
}

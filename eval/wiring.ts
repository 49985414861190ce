import { createRedactor, listSecrets } from "../shared/redaction.ts";
import { createWorkerBoard, type WorkerBoard } from "../shared/background/worker_board.ts";
import { createBoundedFetch } from "../shared/http/bounded_fetch.ts";
import { createDecodedFetch, ENCODINGS, LEFT_BY_DENO } from "../shared/http/decoded_fetch.ts";
import type { RateLimiter } from "../shared/http/rate_limit.ts";
import { isPostgresAddress } from "../shared/postgres/address.ts";
import { createSameOriginFetch } from "../shared/http/same_origin_fetch.ts";
import { createSingleFetch } from "../shared/http/single_fetch.ts";
import { lazy } from "../shared/lazy.ts";
import type { Logger } from "../shared/log.ts";
import type { Metrics, MetricSources } from "../shared/ops/metrics.ts";
import { createTracedFetch } from "../shared/ops/traced_fetch.ts";
import { createAgentDialect } from "./endpoint/agent_dialect.ts";
import type { EvalConfig } from "./config.ts";
import { createEndpointClient } from "./endpoint/client.ts";
import { createEndpointModels } from "./endpoint/endpoint_models.ts";
import { createEndpointPaces, type PaceBoard } from "./endpoint/pace.ts";
import { findPrice, priceTarget } from "./endpoint/prices.ts";
import { createEndpointPolicy } from "./endpoint/policy.ts";
import { createFairLimiter } from "./run/fair_limiter.ts";
import type { EvalDeps } from "./handler.ts";
import { observeTarget } from "./endpoint/observed_target.ts";
import { checkRuns, checkStore } from "./run/readiness.ts";
import { createRunManager } from "./run/create_manager.ts";
import type { Sharing } from "./run/sharing.ts";
import { checkQueue, describeLag, readJobFigures } from "./sharing/readiness.ts";
import type { SharedFigures } from "./sharing/open_sharing.ts";
import { openStore, type OpenStoreOptions } from "./store/open_store.ts";
import type { RunStore } from "./store/store.ts";
import { createOpenAIDialect } from "./endpoint/openai_dialect.ts";
import { expectsTools } from "./assess/scores/tools.ts";
import { createScoringPorts, type WorkerStarts } from "./assess/wiring.ts";
import { createTarget, type Dialects } from "./endpoint/target.ts";

/** Where runs are kept; `sharing` is set if other processes may work on them too. */
export interface OpenedData {
  store: RunStore;
  sharing?: Sharing;
  figures?: SharedFigures;
  board?: PaceBoard;
  /** Counts the requests of all processes for `RATE_LIMIT`. */
  limiter?: RateLimiter | undefined;
}

export interface OpenDataOptions extends Omit<OpenStoreOptions, "path"> {
  log: Logger;
  /** True for the command line; see `OpenSharingOptions`. */
  isExclusive?: boolean;
}

/** Opens `EVAL_DATA`: PostgreSQL if it is an address of one, else an SQLite file. */
export async function openData(
  { EVAL_DATA: data, EVAL_DATA_CONNECTIONS: maxConnections, RATE_LIMIT: rate }: EvalConfig,
  { log, isExclusive = false, ...options }: OpenDataOptions,
): Promise<OpenedData> {
  if (!isPostgresAddress(data)) return { store: await openStore({ path: data, ...options }) };
  const { openSharing } = await import("./sharing/open_sharing.ts");
  const { pool, ...opened } = await openSharing({
    address: data,
    maxConnections,
    log,
    isExclusive,
  });
  if (!rate) return opened;
  const { createPostgresLimiter } = await import("../shared/postgres/rate_limiter.ts");
  return { ...opened, limiter: await createPostgresLimiter({ pool, rate, service: "eval", log }) };
}

/** The service's real dependencies, from its configuration and its open store. */
export function createEvalDeps(
  config: EvalConfig,
  options: OpenedData & {
    log: Logger;
    /** Watches the workers, including the database's. */
    workers?: WorkerBoard;
    starts?: WorkerStarts | undefined;
    /** Nothing is counted if it is unset. */
    createMetrics?: (sources: MetricSources) => Metrics;
  },
): EvalDeps {
  const { log, store, sharing, figures, board, limiter, starts } = options;
  const { workers = createWorkerBoard(log), createMetrics } = options;
  const endpoints = createEndpointPolicy(config);
  const redact = createRedactor(listSecrets(config));
  const paces = createEndpointPaces(config.EVAL_CONCURRENCY, board);
  const metrics = createMetrics?.({
    runs: () => runs.count,
    workerRestarts: () => workers.restarts,
    ...(figures && { jobs: () => readJobFigures(figures) }),
  });
  const safely = (fetch: typeof globalThis.fetch) =>
    createSameOriginFetch(createBoundedFetch(createTracedFetch(fetch)));
  const trustedFetch = safely(createDecodedFetch(createSingleFetch(fetch), LEFT_BY_DENO));
  const loadPublicFetch = lazy<Parameters<typeof fetch>, Response>(async () => {
    const { createPublicFetch } = await import("../shared/http/public_fetch.ts");
    return createPublicFetch();
  });
  const publicFetch = safely(createDecodedFetch(loadPublicFetch, ENCODINGS));
  const fetchFor = (endpoint: string) => endpoints.isTrusted(endpoint) ? trustedFetch : publicFetch;
  const scoring = createScoringPorts(config, trustedFetch, { workers, starts });
  const runs = createRunManager({
    store,
    sharing,
    scoring,
    log,
    endpoints,
    limiter: createFairLimiter(config.EVAL_CONCURRENCY),
    concurrency: config.EVAL_CONCURRENCY,
    maxRuns: config.EVAL_MAX_RUNS,
    connect: (request, credential) => {
      const { endpoint, model_id: modelId, protocol, parameters } = request;
      const observesTools = request.test_batch.some(({ interactions }) =>
        interactions.some(expectsTools)
      );
      const client = createEndpointClient({
        modelId,
        credential,
        timeoutMs: config.MODEL_TIMEOUT_MS,
        retries: config.MODEL_RETRIES,
        fetch: fetchFor(endpoint),
        redact,
        pace: paces(endpoint),
      });
      const dialects: Dialects = {
        openai: (baseUrl) =>
          createOpenAIDialect({ baseUrl, modelId, parameters, observesTools }, client),
        agent: (url) => createAgentDialect({ url, modelId, observesTools }, client),
      };
      const target = createTarget({ endpoint, protocol, parameters, dialects });
      const observed = metrics ? observeTarget(target, { metrics, modelId }) : target;
      const { PRICES: prices } = config;
      return prices ? priceTarget(observed, findPrice(prices, modelId)) : observed;
    },
  });
  const checks = {
    store: checkStore(store),
    runs: checkRuns(runs),
    workers: workers.check,
    ...(figures && { queue: checkQueue(figures) }),
  };
  const details = figures && { details: { lag: describeLag(figures) } };
  const listModels = createEndpointModels({ endpoints, fetchFor });
  return {
    config,
    log,
    endpoints,
    store,
    runs,
    scoring,
    listModels,
    limiter,
    ...(metrics && { operations: { metrics, checks, ...details } }),
  };
}

import { createRedactor, listSecrets, type Logger, partsOfQuery } from "../shared/service/log.ts";
import { createWorkerBoard, type WorkerBoard } from "../shared/service/worker_call.ts";
import { createOutgoingFetch } from "../shared/http/outgoing_fetch.ts";
import { lazy } from "../shared/service/waiting.ts";
import { type Scenario, systemPromptOf } from "./test/scenario.ts";
import { createAgentDialect } from "./ask/agent_dialect.ts";
import type { EvalConfig } from "./config.ts";
import { createEndpointClient } from "./ask/client.ts";
import { createEndpointModels } from "./ask/endpoint_models.ts";
import { findShutdown } from "./ask/shutdown.ts";
import { createEndpointPaces, type EndpointPace } from "./ask/pace.ts";
import { findPrice, priceTarget } from "./ask/prices.ts";
import { createEndpointPolicy } from "./ask/policy.ts";
import { createFairLimiter } from "./run/fair_limiter.ts";
import type { EvalDeps } from "./http/route_deps.ts";
import { checkRuns, checkStore } from "./run/readiness.ts";
import { createRunManager } from "./run/create_manager.ts";
import type { ExecutionPorts } from "./run/execution.ts";
import type { OpenedData } from "./run/open_data.ts";
import { readJobFigures } from "./run/job_figures.ts";
import { createOpenAIDialect } from "./ask/openai_dialect.ts";
import { checksOf, expectsTools } from "./score/planned_checks.ts";
import { observeAssessor } from "./score/assessor.ts";
import { logJudge, observeJudge } from "./score/judge_model.ts";
import { createScoringPorts, type WorkerStarts } from "./score/wiring.ts";
import { createTarget, type Dialects, type Target } from "./ask/target.ts";

/** Warnings about models, and about the judge, that their providers shut down soon. */
export type FindShutdowns = (
  models: { endpoint: string; model_id: string }[],
) => Promise<string[]>;

/** The service's real dependencies, from its configuration and its open store. */
export function createEvalDeps(
  config: EvalConfig,
  options: OpenedData & {
    log: Logger;
    /** Watches the workers, including the database's. */
    workers?: WorkerBoard;
    starts?: WorkerStarts | undefined;
    /** Nothing is counted or traced if it is unset. */
    observation?: typeof import("./ask/observation.ts");
  },
): EvalDeps & { findShutdowns: FindShutdowns } {
  const { log, store, sharing, figures, board, limiter, starts } = options;
  const { workers = createWorkerBoard(log), observation } = options;
  const endpoints = createEndpointPolicy(config);
  const metrics = observation?.createMetrics({
    runs: () => runs.count,
    workerRestarts: () => workers.restarts,
    ...(figures && { jobs: () => readJobFigures(figures) }),
  });
  const recordsMessages = config.OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT;
  const traceparent = observation?.callersTraceparent;
  const trustedFetch = createOutgoingFetch({ traceparent });
  const connect = lazy<Parameters<typeof fetch>, Response>(async () => {
    const { createPublicFetch } = await import("../shared/http/public_fetch.ts");
    return createPublicFetch();
  });
  const publicFetch = createOutgoingFetch({ connect, traceparent });
  const fetchFor = (endpoint: string) => endpoints.isTrusted(endpoint) ? trustedFetch : publicFetch;
  const scoring = createScoringPorts(config, trustedFetch, {
    workers,
    starts,
    fetchFor,
    observeJudge: (judge) => {
      const logged = logJudge(judge, log);
      if (!observation || !metrics) return logged;
      return observeJudge(logged, { metrics, observe: observation.observeCall });
    },
  });
  const runs = createRunManager({
    store,
    sharing,
    scoring,
    log,
    endpoints,
    limiter: createFairLimiter(config.EVAL_CONCURRENCY),
    concurrency: config.EVAL_CONCURRENCY,
    maxRuns: config.MAX_RUNS ?? 100,
    connect: createConnect(config, {
      fetchFor,
      paces: createEndpointPaces(config.EVAL_CONCURRENCY, board),
      observe: (target, model) =>
        observation && metrics
          ? observation.observeTarget(target, { metrics, recordsMessages, ...model })
          : target,
    }),
    ...(observation && {
      observeAssessor: (assessor) => observeAssessor(assessor, observation.withSpan),
    }),
  });
  const checks = {
    store: checkStore(store),
    runs: checkRuns(runs),
    workers: workers.check,
  };
  const listModels = createEndpointModels({ endpoints, fetchFor });
  const listJudges = createEndpointModels({
    endpoints: {
      credentialFor: () => config.JUDGE_API_KEY,
      requireAllowed() {}, // the operator's own choice
      requireReachable: () => Promise.resolve(),
    },
    fetchFor: () => trustedFetch,
  });
  return {
    config,
    log,
    endpoints,
    store,
    runs,
    scoring,
    listModels,
    async findShutdowns(models) {
      const { JUDGE_BASE_URL: endpoint, JUDGE_MODEL: model_id } = config;
      const found = await Promise.all([
        ...models.map((model) => findShutdown(listModels, model)),
        ...(endpoint && model_id ? [findShutdown(listJudges, { endpoint, model_id })] : []),
      ]);
      return found.filter((one) => one !== undefined);
    },
    limiter,
    ...(metrics && { operations: { metrics, checks } }),
  };
}

function hasFirstTokenCheck(scenario: Scenario): boolean {
  return scenario.interactions.some((_, turn) =>
    checksOf(scenario, turn).some(({ check }) => check.type === "max_first_token_ms")
  );
}

/** How runs reach the models under test. The query of an endpoint is removed from its messages. */
function createConnect(
  config: EvalConfig,
  { fetchFor, paces, observe }: {
    fetchFor: (endpoint: string) => typeof fetch;
    paces: (endpoint: string) => EndpointPace;
    observe: (target: Target, model: { modelId: string; endpoint: string }) => Target;
  },
): ExecutionPorts["connect"] {
  const secrets = listSecrets(config);
  return (request, credential) => {
    const { endpoint, model_id: modelId, protocol, parameters, test_batch } = request;
    const streams = request.stream_replies || test_batch.some(hasFirstTokenCheck);
    const observesTools = test_batch.some(({ interactions }) => interactions.some(expectsTools));
    const client = createEndpointClient({
      modelId,
      credential,
      timeoutMs: config.MODEL_TIMEOUT_MS,
      retries: config.MODEL_RETRIES,
      fetch: fetchFor(endpoint),
      redact: createRedactor([...secrets, ...partsOfQuery(endpoint)]),
      pace: paces(endpoint),
    });
    const dialects: Dialects = {
      openai: (baseUrl) =>
        createOpenAIDialect({ baseUrl, modelId, parameters, observesTools, streams }, client),
      agent: (url) => createAgentDialect({ url, modelId, observesTools }, client),
    };
    const hasSystemPrompts = test_batch.some((scenario) => systemPromptOf(scenario) !== "");
    const target = observe(
      createTarget({ endpoint, protocol, parameters, hasSystemPrompts, dialects }),
      { modelId, endpoint },
    );
    return config.PRICES ? priceTarget(target, findPrice(config.PRICES, modelId)) : target;
  };
}

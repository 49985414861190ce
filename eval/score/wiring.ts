import { createRedactor, listSecrets, silentLogger } from "../../shared/service/log.ts";
import {
  createWorkerBoard,
  type WorkerBoard,
  type WorkerPort,
} from "../../shared/service/worker_call.ts";
import { readAnswer } from "../../shared/providers/openai_answer.ts";
import { type AskScorer, type ScoringPorts, WebhookAnswer } from "./scoring_ports.ts";
import { createContentChecks } from "./content_checks.ts";
import type { EvalConfig } from "../config.ts";
import type { Embedder } from "./scoring_ports.ts";
import { createEndpointEmbedder } from "./embeddings_endpoint.ts";
import { createLocalEmbedder } from "./local_encoder.ts";
import { createEndpointClient, type EndpointClient } from "../ask/client.ts";
import { createEndpointPace } from "../ask/pace.ts";
import { createJudgeModel, type JudgeModel, priceJudge } from "./judge_model.ts";
import { findPrice } from "../ask/prices.ts";
import { createPairComparer } from "./scores/lexical/pair_scores.ts";

/** Threads that can share a sentence encoder. */
export const MOST_ENCODERS = 64;

/** Replacements for the functions that start workers. */
export interface WorkerStarts {
  longText?: () => WorkerPort;
  encoder?: () => WorkerPort;
  /** Threads of the sentence encoder; one less than processors if it is unset. */
  encoders?: number;
}

interface ScoringOptions {
  workers?: WorkerBoard;
  starts?: WorkerStarts | undefined;
  /** Adds metrics, traces and logs to the judge. */
  observeJudge?: ((judge: JudgeModel) => JudgeModel) | undefined;
  /** For addresses that callers choose; see `EndpointPolicy.isTrusted`. */
  fetchFor?: (url: string) => typeof fetch;
}

/**
 * Creates what scoring needs from the configuration. Starts nothing: a worker starts with its first
 * text.
 */
export function createScoringPorts(
  config: EvalConfig,
  safeFetch: typeof fetch,
  { workers = createWorkerBoard(silentLogger), starts = {}, observeJudge, fetchFor }:
    ScoringOptions = {},
): ScoringPorts {
  const redact = createRedactor(listSecrets(config));
  const connect: Connect = (modelId, credential, keyVariable, what, fetch = safeFetch) =>
    createEndpointClient({
      modelId,
      what,
      credential,
      keyVariable,
      redact,
      timeoutMs: config.MODEL_TIMEOUT_MS,
      retries: config.MODEL_RETRIES,
      fetch,
      pace: createEndpointPace(config.EVAL_CONCURRENCY),
    });
  const judgeNamed = (model: string) => createJudge(config, connect, observeJudge, model);
  const judge = judgeNamed(config.JUDGE_MODEL ?? "");
  return {
    pairs: createPairComparer({
      onEvent: workers.watch("long text"),
      ...(starts.longText && { start: starts.longText }),
    }),
    checks: createContentChecks({ onEvent: workers.watch("checks") }),
    embedder: createEmbedder(config, { connect, workers, starts }),
    ...(judge && { judge, judgeNamed: (model) => judgeNamed(model)! }),
    askScorer: createAskScorer((name, url) =>
      connect(
        name,
        config.EVAL_CREDENTIALS?.[new URL(url).origin],
        "EVAL_CREDENTIALS",
        `cannot get a score from the scorer ${JSON.stringify(name)}`,
        fetchFor?.(url),
      )
    ),
  };
}

/** A scorer gets only the credential of its own origin, never that of the endpoint under test. */
function createAskScorer(
  connect: (name: string, url: string) => EndpointClient,
): AskScorer {
  const clients = new Map<string, EndpointClient>();
  return async ({ name, url }, turn, signal) => {
    const client = clients.getOrInsertComputed(url, () => connect(name, url));
    const { value } = await client.post({
      url,
      body: turn,
      read: (response) => readAnswer(response, ({ value }) => WebhookAnswer.safeParse(value).data),
    }, signal);
    return value;
  };
}

type Connect = (
  modelId: string,
  credential: string | undefined,
  keyVariable: string,
  /** The beginning of messages. */
  what: string,
  fetch?: typeof globalThis.fetch,
) => EndpointClient;

function createJudge(
  config: EvalConfig,
  connect: Connect,
  observe: ScoringOptions["observeJudge"] = (judge) => judge,
  model: string,
): JudgeModel | undefined {
  const { JUDGE_BASE_URL: baseUrl, JUDGE_API_KEY: key } = config;
  if (!baseUrl || !model) return undefined;
  const judge = observe(
    createJudgeModel(
      { baseUrl, model },
      connect(model, key, "JUDGE_API_KEY", `cannot get a reply from the judge "${model}"`),
    ),
  );
  return config.PRICES ? priceJudge(judge, findPrice(config.PRICES, model)) : judge;
}

function createEmbedder(
  config: EvalConfig,
  { connect, workers, starts: { encoder: start, encoders = countEncoders(1) } }: {
    connect: Connect;
    workers: WorkerBoard;
    starts: WorkerStarts;
  },
): Embedder {
  const { EMBEDDINGS_BASE_URL: baseUrl, EMBEDDINGS_MODEL: model } = config;
  if (!baseUrl || !model) {
    return createLocalEmbedder({
      workers: encoders,
      watch: () => workers.watch("encoder"),
      ...(start && { start }),
    });
  }
  return createEndpointEmbedder(
    { baseUrl, model },
    connect(
      model,
      config.EMBEDDINGS_API_KEY,
      "EMBEDDINGS_API_KEY",
      `cannot get the embeddings of "${model}"`,
    ),
  );
}

/** As many as processors; a service leaves one to itself. */
export function countEncoders(spared = 0): number {
  return Math.max(1, Math.min(MOST_ENCODERS, navigator.hardwareConcurrency - spared));
}

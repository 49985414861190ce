import type { ScoringPorts } from "../../eval/score/scoring_ports.ts";
import { EvalConfig } from "../../eval/config.ts";
import { createEndpointPolicy } from "../../eval/ask/policy.ts";
import type { ListEndpointModels } from "../../eval/ask/endpoint_models.ts";
import { createEvalHandler } from "../../eval/handler.ts";
import * as observation from "../../eval/ask/observation.ts";
import { createEvalDeps } from "../../eval/wiring.ts";
import type { ConversationMessage, Target } from "../../eval/ask/target.ts";
import { createRunManager } from "../../eval/run/create_manager.ts";
import type { RunStore } from "../../eval/store/store.ts";
import { parseConfig } from "../../shared/service/config.ts";
import { type Logger, silentLogger } from "../../shared/service/log.ts";
import type { Service } from "../../shared/http/router.ts";
import type { Operations } from "../../shared/service/ops/operations_routes.ts";
import type { AskingRequest, EvaluateRequest } from "../../eval/test/evaluate_request.ts";
import type { EvaluateResponse } from "../../eval/test/evaluate_response.ts";
import { fakeTarget } from "./eval_ports.ts";
import { memoryStore } from "./memory_store.ts";
import { scoringPorts } from "./scoring_ports.ts";

interface ServiceOptions {
  environment?: Record<string, string>;
  store?: RunStore;
  target?: Target;
  /** The models under test, if they are several. */
  targetOf?: (request: EvaluateRequest) => Target;
  scoring?: ScoringPorts;
  operations?: Operations;
  listModels?: ListEndpointModels;
  log?: Logger;
  recoveryDelayMs?: number;
  /** Set if other processes work on the same runs. */
  sharing?: Parameters<typeof createRunManager>[0]["sharing"];
  /** Called for each run that connects to an endpoint. */
  connect?: (request: AskingRequest) => void;
}

/** The evaluation service without a socket, over a model that answers by a function. */
export function evalService(answer?: Answer, options: ServiceOptions = {}) {
  const { deps, asked } = evalDeps(answer, options);
  return { service: createEvalHandler(deps), asked, store: deps.store, runs: deps.runs };
}

type Answer = (conversation: ConversationMessage[], call: number) => string;

/** What the service needs from outside. */
export function evalDeps(answer: Answer = () => "fine", options: ServiceOptions = {}) {
  const { store = memoryStore(), target, environment = {}, scoring = scoringPorts() } = options;
  const { operations, log = silentLogger } = options;
  const config = parseConfig(EvalConfig, environment);
  const fake = fakeTarget(answer);
  const endpoints = createEndpointPolicy(config);
  const runs = createRunManager({
    store,
    log,
    endpoints,
    connect(request) {
      options.connect?.(request);
      return options.targetOf?.(request) ?? target ?? fake.target;
    },
    limiter: { forRun: () => (work) => work() },
    scoring,
    concurrency: config.EVAL_CONCURRENCY,
    maxRuns: config.MAX_RUNS ?? 100,
    recoveryDelayMs: options.recoveryDelayMs ?? 0,
    sharing: options.sharing,
  });
  const deps = {
    config,
    log,
    endpoints,
    store,
    runs,
    scoring,
    listModels: options.listModels ?? (() => Promise.resolve({ models: [] })),
    ...(operations && { operations }),
  };
  return { deps, asked: fake.asked };
}

/**
 * The service as it is wired, which asks real endpoints. `close` ends the worker of its checks, if
 * a run has started it.
 */
export function wiredService(environment: Record<string, string> = {}, store = memoryStore()) {
  const config = parseConfig(EvalConfig, { MODEL_RETRIES: "0", ...environment });
  const deps = createEvalDeps(config, { log: silentLogger, store, observation });
  const { checks } = deps.scoring;
  return { service: createEvalHandler(deps), [Symbol.dispose]: () => checks[Symbol.dispose]() };
}

/** The smallest valid body, with the fields of the test. */
export function evaluateBody(fields: Record<string, unknown> = {}) {
  return {
    test_batch: { id: "s1", interactions: [{ id: "i1", user_message: "Hello" }] },
    endpoint: "http://127.0.0.1:9/v1",
    model_id: "m",
    ...fields,
  };
}

/** A body with one scenario, whose turns have the fields given. */
export function scenarioBody(
  turns: Record<string, unknown>[],
  scenario: Record<string, unknown> = {},
) {
  const interactions = turns.map((fields, index) => ({
    id: `t${index + 1}`,
    user_message: `Question ${index + 1}`,
    ...fields,
  }));
  return evaluateBody({ test_batch: { id: "s1", interactions, ...scenario } });
}

/** Fields of a body: one conversation of two turns. */
export const TWO_TURNS = {
  test_batch: {
    id: "s1",
    interactions: [{ id: "1", user_message: "one" }, { id: "2", user_message: "two" }],
  },
};

/** A scenario of three turns. */
export const THREE_TURNS = {
  id: "s1",
  interactions: ["one", "two", "three"].map((text) => ({ id: text, user_message: text })),
};

export function evaluateRequestOf(body: unknown, headers: Record<string, string> = {}): Request {
  return new Request("http://127.0.0.1:8080/evaluate", {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
}

/** Evaluates and reads the answer, which must be a 200. */
export async function evaluateWith(
  service: (request: Request) => Promise<Response>,
  body: unknown,
): Promise<EvaluateResponse> {
  const response = await service(evaluateRequestOf(body));
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${response.status}: ${text}`);
  return JSON.parse(text);
}

/** Calls a route: `GET /runs`. */
export function callRoute(
  service: Service,
  route: string,
  headers: Record<string, string> = {},
): Promise<Response> {
  const [method = "", path = ""] = route.split(" ");
  return service(new Request(`http://127.0.0.1:8080${path}`, { method, headers }));
}

/** Starts a run without waiting for its end; resolves with its id. */
export async function startAsync(
  service: Service,
  fields: Record<string, unknown> = {},
): Promise<string> {
  const request = evaluateRequestOf(evaluateBody(fields), { prefer: "respond-async" });
  return (await (await service(request)).json()).run_id;
}

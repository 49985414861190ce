import { assert, assertEquals } from "@std/assert";
import { createOpenAIProvider } from "../shared/providers/openai_client.ts";
import type { Protocol } from "../eval/test/evaluate_request.ts";
import type { EvaluateResponse } from "../eval/test/evaluate_response.ts";
import { agentRequestOf, agentService } from "./fakes/agent_service.ts";
import { evaluateRequestOf, wiredService } from "./fakes/eval_service.ts";
import {
  type Fault,
  FAULTS,
  type FaultyEndpoint,
  startFaultyEndpoint,
} from "./fakes/faulty_endpoint.ts";
import { HELD_MS, holdTimeouts } from "./fakes/held_timeouts.ts";
import { until } from "./fakes/until.ts";

/** Every way in which a provider fails, alone and mixed, over real sockets. */

/** The status that the agent's caller gets, and the code of the failed interaction. */
const EXPECTED: Record<Fault, [status: number, code: string]> = {
  "429": [429, "rate_limited"],
  "429 in seconds": [429, "rate_limited"],
  "429 by date": [429, "rate_limited"],
  "429 absurd": [429, "rate_limited"],
  "500": [502, "provider_error"],
  "reset": [502, "provider_error"],
  "half a body": [502, "provider_error"],
  "malformed JSON": [502, "provider_error"],
  "another shape": [502, "provider_error"],
  "an empty body": [502, "provider_error"],
  "a body cut short": [502, "provider_error"],
  "400": [400, "provider_refused"],
  "a redirect elsewhere": [502, "provider_error"],
  "an HTML page": [502, "provider_error"],
  "an endless body": [502, "provider_error"],
  "a hang": [504, "provider_timeout"],
  "a hang inside the body": [504, "provider_timeout"],
  "a slow drip": [504, "provider_timeout"],
  "a stream cut inside a character": [502, "provider_error"],
};

/** Faults whose text the caller gets. */
const SPEAKING: Fault[] = ["400", "500", "an HTML page"];

const names = Object.keys(FAULTS) as Fault[];

function evaluator(environment: Record<string, string> = {}) {
  const { service } = wiredService({ MODEL_TIMEOUT_MS: String(HELD_MS), ...environment });
  return async (
    endpoint: string,
    messages: string[],
    { protocol }: { protocol?: Protocol } = {},
  ): Promise<EvaluateResponse> => {
    const test_batch = messages.map((user_message, index) => ({
      id: `s${index}`,
      interactions: [{ id: "i", user_message }], // no reference: no worker has to be started
    }));
    const request = evaluateRequestOf({ test_batch, endpoint, model_id: "m", protocol });
    const response = await service(request);
    const text = await response.text();
    assertEquals(response.status, 200, text);
    return JSON.parse(text);
  };
}

function failures({ results }: EvaluateResponse): (string | undefined)[] {
  return results.scenarios.map(({ attempts }) => attempts[0]?.interactions[0]?.error?.code);
}

function replies({ results }: EvaluateResponse): (string | undefined)[] {
  return results.scenarios.map(({ attempts }) => attempts[0]?.interactions[0]?.agent_reply);
}

/** No request is left in progress, once the double has seen the last abort. */
async function assertQuiet(endpoint: FaultyEndpoint, mostSockets: number): Promise<void> {
  await until(() => endpoint.underWay === 0);
  assert(endpoint.openSockets <= mostSockets, `${endpoint.openSockets} sockets are open`);
}

for (const fault of names) {
  const [status, code] = EXPECTED[fault];

  Deno.test(`agent: ${fault} is answered as ${status} ${code}`, async () => {
    using timeouts = holdTimeouts();
    await using endpoint = await startFaultyEndpoint({ onHang: timeouts.hangs });
    const provider = createOpenAIProvider({
      name: "hub",
      baseUrl: endpoint.baseUrl,
      timeoutMs: HELD_MS,
      retries: 0,
    });
    const { service } = agentService(provider);
    const body = { messages: [{ type: "human", content: `${fault}:` }] };
    const response = await service(agentRequestOf(body));
    const text = await response.text();
    assertEquals([response.status, JSON.parse(text).code], [status, code], text);
    assertEquals(text.includes("raw words"), SPEAKING.includes(fault), text);
    await assertQuiet(endpoint, 1);
  });

  Deno.test(`eval: ${fault} fails its own interaction and no other`, async () => {
    using timeouts = holdTimeouts();
    await using endpoint = await startFaultyEndpoint({ onHang: timeouts.hangs });
    const evaluate = evaluator();
    const messages = ["one", `${fault}:`, "two", "three"];
    const result = await evaluate(endpoint.baseUrl, messages, { protocol: "openai" });
    assertEquals(failures(result), [undefined, code, undefined, undefined]);
    assertEquals(endpoint.count, 4);
    await assertQuiet(endpoint, 4);
  });
}

const ENDING = names.filter((fault) => fault !== "an endless body");

Deno.test("eval: whatever goes wrong with the very first call is that call's alone", async () => {
  using timeouts = holdTimeouts();
  const outcomes = await Promise.all(ENDING.map(async (fault) => {
    await using endpoint = await startFaultyEndpoint({ onHang: timeouts.hangs });
    const result = await evaluator()(endpoint.baseUrl, [`${fault}:`, "one", "two"]);
    return [fault, ...failures(result)];
  }));
  const expected = ENDING.map((fault) => [fault, EXPECTED[fault][1], undefined, undefined]);
  assertEquals(outcomes, expected);
});

Deno.test("eval: whatever goes wrong with the first call settles nothing about the endpoint", async () => {
  using timeouts = holdTimeouts();
  const messages = Array.from({ length: 5 }, (_, index) => `message ${index}`);
  const outcomes = await Promise.all(ENDING.map(async (fault) => {
    await using endpoint = await startFaultyEndpoint({
      path: "/v1/chat/completions",
      faultOf: (call) => call === 1 ? fault : undefined,
      onHang: timeouts.hangs,
    });
    const result = await evaluator()(endpoint.origin, messages);
    return [fault, ...failures(result).filter(Boolean)];
  }));
  assertEquals(outcomes, ENDING.map((fault) => [fault, EXPECTED[fault][1]]));
});

Deno.test("eval: a reset costs as many calls as MODEL_RETRIES says", async () => {
  for (const retries of [0, 1]) {
    await using endpoint = await startFaultyEndpoint({
      path: "/v1/chat/completions",
      faultOf: (call) => call === 1 ? undefined : "reset",
    });
    const evaluate = evaluator({ MODEL_RETRIES: `${retries}`, EVAL_CONCURRENCY: "1" });
    const messages = ["on a new connection", "on the same one"];
    assertEquals(failures(await evaluate(endpoint.baseUrl, messages)), [
      undefined,
      "provider_error",
    ]);
    assertEquals(endpoint.count, 1 + 1 + retries);
  }
});

/** Faults that pass, and do not ask for a wait that is longer than these tests. */
const PASSING = names.filter((fault) =>
  !["an endless body", "400", "a redirect elsewhere", "429 by date", "429 in seconds"]
    .includes(fault)
);

Deno.test("eval: an attempt that fails in any temporary way is repaired by the next", async () => {
  using timeouts = holdTimeouts();
  const outcomes = await Promise.all(PASSING.map(async (fault) => {
    await using endpoint = await startFaultyEndpoint({
      faultOf: (call) => call === 1 ? fault : undefined,
      onHang: timeouts.hangs,
    });
    const evaluate = evaluator({ MODEL_RETRIES: "1" });
    return [fault, ...failures(await evaluate(endpoint.baseUrl, ["one"]))];
  }));
  assertEquals(outcomes, PASSING.map((fault) => [fault, undefined]));
});

Deno.test("eval: with passing faults in 30 % of the attempts less than 8 % of the turns are lost", async () => {
  const TURNS = 360;
  const random = seededRandom(7);
  using timeouts = holdTimeouts();
  await using endpoint = await startFaultyEndpoint({
    path: "/v1/chat/completions",
    faultOf: () => random() < 0.3 ? PASSING[Math.floor(random() * PASSING.length)] : undefined,
    onHang: timeouts.hangs,
  });
  const messages = Array.from({ length: TURNS }, (_, index) => `message ${index}`);
  const evaluate = evaluator({ MODEL_RETRIES: "2", EVAL_CONCURRENCY: "90" });
  const result = await evaluate(endpoint.origin, messages);
  const lost = failures(result).filter(Boolean).length;
  assert(lost < 0.08 * TURNS, `${lost} of ${TURNS} turns are lost`);
  const wrong = replies(result).filter((reply) => reply !== "fine" && reply !== "Request failed");
  assertEquals(wrong, []);
});

/** Every run of the test has the same numbers. */
function seededRandom(seed: number): () => number {
  return () => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
    return seed / 2 ** 31;
  };
}

Deno.test("eval: TLS that fails on the very first call is a dead endpoint", async () => {
  await using endpoint = await startFaultyEndpoint();
  const https = endpoint.baseUrl.replace("http:", "https:");
  const messages = Array.from({ length: 50 }, (_, index) => `message ${index}`);
  const result = await evaluator()(https, messages);
  assertEquals(new Set(failures(result)), new Set(["provider_error"]));
  const details = result.results.scenarios.map((scenario) =>
    scenario.attempts[0]?.interactions[0]?.error?.detail
  );
  assertEquals(new Set(details).size, 1);
  assert(details[0]?.includes("the TLS handshake failed"), details[0]);
  assertEquals(endpoint.count, 0);
});

Deno.test("eval: with faults of every kind in 30 % of the calls, exactly those are marked", async () => {
  using timeouts = holdTimeouts();
  await using endpoint = await startFaultyEndpoint({ onHang: timeouts.hangs });
  const usual = names.filter((fault) => fault !== "an endless body");
  const messages = Array.from(
    { length: 150 },
    (_, index) => index % 10 < 3 ? `${usual[index % usual.length]}: ${index}` : `plain ${index}`,
  );
  const result = await evaluator({ EVAL_CONCURRENCY: "32" })(endpoint.baseUrl, messages);
  const expected = messages.map((message) => EXPECTED[message.split(":")[0] as Fault]?.[1]);
  assertEquals(failures(result), expected);
  const failed = expected.filter(Boolean).length;
  assertEquals(result.message, `Evaluation completed: ${failed} of 150 interactions failed`);
  assertEquals(replies(result).filter((reply) => reply === "fine").length, 150 - failed);
  await assertQuiet(endpoint, 32);
});

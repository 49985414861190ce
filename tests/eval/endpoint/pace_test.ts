import { assert, assertEquals, assertRejects } from "@std/assert";
import { EvalConfig } from "../../../eval/config.ts";
import { createEndpointPace } from "../../../eval/endpoint/pace.ts";
import { createEvalHandler } from "../../../eval/handler.ts";
import { createEvalDeps } from "../../../eval/wiring.ts";
import { parseConfig } from "../../../shared/config/config.ts";
import { silentLogger } from "../../../shared/log.ts";
import { evaluateRequestOf } from "../../fakes/eval_service.ts";
import { memoryStore } from "../../fakes/memory_store.ts";
import { completion, errorStatus, startProviderDouble } from "../../fakes/provider_double.ts";

const signal = new AbortController().signal;
const REFUSED = new Error("429");
const isRateLimit = (error: unknown) => error === REFUSED;

/** Calls that the test ends, with success or failure. */
function callsOf(pace: ReturnType<typeof createEndpointPace>) {
  const running: PromiseWithResolvers<void>[] = [];
  async function start(): Promise<void> {
    const permit = await pace.acquire(signal);
    const call = Promise.withResolvers<void>();
    running.push(call);
    await permit.run(() => call.promise, isRateLimit).catch(() => {});
  }
  return { running, start };
}

const settle = () => new Promise((resolve) => setTimeout(resolve, 0));

Deno.test("a 429 halves the limit, and a round of them halves it only once", async () => {
  const pace = createEndpointPace(8);
  const { running, start } = callsOf(pace);
  const all = Array.from({ length: 8 }, start);
  await settle();
  running.forEach(({ reject }) => reject(REFUSED));
  await Promise.all(all);
  assertEquals(pace.limit, 4);
});

Deno.test("a round of calls that succeed raises the limit by one, up to the maximum", async () => {
  const pace = createEndpointPace(8);
  const { running, start } = callsOf(pace);
  const refused = start();
  await settle();
  running.shift()!.reject(REFUSED);
  await refused;
  assertEquals(pace.limit, 4);
  const round = Array.from({ length: 4 }, start);
  await settle();
  running.splice(0).forEach(({ resolve }) => resolve());
  await Promise.all(round);
  assert(pace.limit > 4.8 && pace.limit <= 5, `${pace.limit}`);
  for (let call = 0; call < 100; call++) {
    const one = start();
    await settle();
    running.shift()!.resolve();
    await one;
  }
  assertEquals(pace.limit, 8);
});

Deno.test("no more calls are running than the limit, and each that ends lets the next one start", async () => {
  const pace = createEndpointPace(2);
  const { running, start } = callsOf(pace);
  const all = Array.from({ length: 5 }, start);
  await settle();
  assertEquals(running.length, 2);
  running[0]!.resolve();
  await settle();
  assertEquals(running.length, 3);
  running.forEach(({ resolve }) => resolve());
  await settle();
  running.forEach(({ resolve }) => resolve());
  await Promise.all(all);
});

Deno.test("a wait that is aborted does not use up a permit", async () => {
  const pace = createEndpointPace(1);
  const { running, start } = callsOf(pace);
  const first = start();
  await settle();
  const leaving = new AbortController();
  const waiting = Promise.resolve(pace.acquire(leaving.signal));
  const last = start();
  leaving.abort();
  await assertRejects(() => waiting, DOMException);
  running[0]!.resolve();
  await settle();
  assertEquals(running.length, 2);
  running[1]!.resolve();
  await Promise.all([first, last]);
});

Deno.test("an endpoint that allows four concurrent calls gets about four, and few of them are refused", async () => {
  const LIMIT = 4;
  const TURNS = 200;
  let underWay = 0;
  let most = 0;
  let refused = 0;
  await using endpoint = await startProviderDouble(async (request) => {
    if (underWay >= LIMIT) {
      refused++;
      return await errorStatus(429, { headers: { "retry-after-ms": "20" } })(request);
    }
    underWay++;
    most = Math.max(most, underWay);
    await new Promise((resolve) => setTimeout(resolve, 10));
    underWay--;
    return await completion({ content: "fine" })(request);
  });
  const config = parseConfig(EvalConfig, { EVAL_CONCURRENCY: "64" });
  const service = createEvalHandler(
    createEvalDeps(config, { log: silentLogger, store: memoryStore() }),
  );
  const test_batch = { id: "s", interactions: [{ id: "i", user_message: "Hi" }] };
  const response = await service(evaluateRequestOf({
    test_batch,
    endpoint: endpoint.baseUrl,
    model_id: "m",
    attempts: TURNS,
  }));
  const { message } = await response.json();
  assertEquals(message, "Evaluation completed successfully");
  assertEquals(most, LIMIT);
  // 60 concurrent calls, each retried every 20 ms, would be refused about 15 times per answer.
  assert(refused < TURNS, `${refused} refusals for ${TURNS} answers`);
});

import { assert, assertEquals, assertRejects } from "@std/assert";
import { EvalConfig } from "../../../eval/config.ts";
import { createEndpointPace } from "../../../eval/endpoint/pace.ts";
import { createEvalHandler } from "../../../eval/handler.ts";
import { createEvalDeps } from "../../../eval/wiring.ts";
import { parseConfig } from "../../../shared/config.ts";
import { silentLogger } from "../../../shared/log.ts";
import { evaluateRequestOf } from "../../fakes/eval_service.ts";
import { memoryStore } from "../../fakes/memory_store.ts";
import { completion, errorStatus, startProviderDouble } from "../../fakes/provider_double.ts";

const signal = new AbortController().signal;
const REFUSED = new Error("429");
const isRateLimit = (error: unknown) => error === REFUSED;

/** Calls that wait until they are told how they end. */
function callsOf(pace: ReturnType<typeof createEndpointPace>) {
  const running: PromiseWithResolvers<void>[] = [];
  async function start(): Promise<void> {
    const place = await pace.enter(signal);
    const call = Promise.withResolvers<void>();
    running.push(call);
    await place.run(() => call.promise, isRateLimit).catch(() => {});
  }
  return { running, start };
}

const settle = () => new Promise((resolve) => setTimeout(resolve, 0));

Deno.test("a refusal halves the calls at once, and one round of refusals only once", async () => {
  const pace = createEndpointPace(8);
  const { running, start } = callsOf(pace);
  const all = Array.from({ length: 8 }, start);
  await settle();
  running.forEach(({ reject }) => reject(REFUSED));
  await Promise.all(all);
  assertEquals(pace.limit, 4);
});

Deno.test("a round that goes well is one call more, up to the most", async () => {
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

Deno.test("no more calls are under way than the limit, and each that ends lets one in", async () => {
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

Deno.test("who leaves while waiting takes nobody's place", async () => {
  const pace = createEndpointPace(1);
  const { running, start } = callsOf(pace);
  const first = start();
  await settle();
  const leaving = new AbortController();
  const waiting = Promise.resolve(pace.enter(leaving.signal));
  const last = start();
  leaving.abort();
  await assertRejects(() => waiting, DOMException);
  running[0]!.resolve();
  await settle();
  assertEquals(running.length, 2);
  running[1]!.resolve();
  await Promise.all([first, last]);
});

Deno.test("an endpoint that takes four at once is used near its limit, and not hammered", async () => {
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
  // Sixty at once, each trying again every 20 ms, would be refused some 15 times for each answer.
  assert(refused < TURNS, `${refused} refusals for ${TURNS} answers`);
});

import { assertEquals, assertRejects } from "@std/assert";
import { EvalConfig } from "../../../eval/config.ts";
import { createFairLimiter, type Limiter } from "../../../eval/run/execute/fair_limiter.ts";
import { createEvalHandler } from "../../../eval/handler.ts";
import { createEvalDeps } from "../../../eval/wiring.ts";
import { parseConfig } from "../../../shared/config/config.ts";
import { silentLogger } from "../../../shared/log.ts";
import { evaluateRequestOf } from "../../fakes/eval_service.ts";
import { startFaultyEndpoint } from "../../fakes/faulty_endpoint.ts";
import { memoryStore } from "../../fakes/memory_store.ts";
import { until } from "../../fakes/until.ts";

/** Conversations that last until the test ends them. */
function conversationsOf(limiter: Limiter) {
  const under: (() => void)[] = [];
  const all: Promise<void>[] = [];
  return {
    start(count: number, signal?: AbortSignal): Promise<void>[] {
      const started = Array.from(
        { length: count },
        () => limiter(() => new Promise<void>((resolve) => under.push(resolve)), signal),
      );
      all.push(...started);
      return started;
    },
    get running() {
      return under.length;
    },
    end(count = under.length) {
      for (const end of under.splice(0, count)) end();
    },
    async endAll() {
      while (under.length > 0) {
        for (const end of under.splice(0)) end();
        await settle();
      }
      await Promise.allSettled(all);
    },
  };
}

const settle = () => new Promise((resolve) => setTimeout(resolve, 0));

Deno.test("a single run may use the whole limit, and no more", async () => {
  const conversations = conversationsOf(createFairLimiter(16).forRun("http://a"));
  conversations.start(20);
  await settle();
  assertEquals(conversations.running, 16);
  conversations.end(3);
  await settle();
  assertEquals(conversations.running, 16);
  await conversations.endAll();
});

Deno.test("an endpoint that hangs and uses the whole limit does not stop a run against another endpoint", async () => {
  const fair = createFairLimiter(64);
  const hanging = conversationsOf(fair.forRun("http://hanging/v1"));
  const small = conversationsOf(fair.forRun("http://quick/v1"));
  hanging.start(100);
  await settle();
  small.start(20);
  await settle();
  assertEquals([hanging.running, small.running], [64, 8]);
  for (let rounds = 0; rounds < 3 && small.running > 0; rounds++) {
    small.end();
    await settle();
  }
  assertEquals([hanging.running, small.running], [64, 0]);
  await hanging.endAll();
});

Deno.test("at most twice the limit is running, however many endpoints hang", async () => {
  const fair = createFairLimiter(16);
  const conversations = Array.from(
    { length: 20 },
    (_, index) => conversationsOf(fair.forRun(`http://h${index}`)),
  );
  for (const each of conversations) each.start(16);
  await settle();
  assertEquals(conversations.reduce((sum, { running }) => sum + running, 0), 32);
  for (let rounds = 0; rounds < 20; rounds++) {
    conversations.forEach((each) => each.end());
    await settle();
  }
  assertEquals(conversations.map(({ running }) => running), conversations.map(() => 0));
});

Deno.test("a limit below eight is never exceeded", async () => {
  const fair = createFairLimiter(5);
  const [one, two] = ["http://a", "http://b"].map((url) => conversationsOf(fair.forRun(url)));
  one!.start(5);
  two!.start(5);
  await settle();
  assertEquals([one!.running, two!.running], [5, 0]);
  one!.end(1);
  await settle();
  assertEquals([one!.running, two!.running], [4, 1]);
  await one!.endAll();
  await two!.endAll();
});

Deno.test("the endpoint with the fewest conversations comes next, then its run with the fewest", async () => {
  const fair = createFairLimiter(8);
  const large = conversationsOf(fair.forRun("http://a/v1"));
  const small = conversationsOf(fair.forRun("http://a/v2"));
  const other = conversationsOf(fair.forRun("http://b"));
  large.start(40);
  await settle();
  small.start(40);
  other.start(40);
  await settle();
  assertEquals([large.running, small.running, other.running], [8, 0, 1]);
  for (let ended = 0; ended < 8; ended++) {
    large.end(1);
    await settle();
  }
  assertEquals([large.running, small.running, other.running], [2, 2, 4]);
  for (const each of [large, small, other]) await each.endAll();
});

Deno.test("an aborted wait does not count as running, and an aborted signal rejects at once", async () => {
  const fair = createFairLimiter(1);
  const limiter = fair.forRun("http://a");
  const conversations = conversationsOf(limiter);
  conversations.start(1);
  const leaving = new AbortController();
  const [left] = conversations.start(1, leaving.signal);
  conversations.start(1);
  leaving.abort(new DOMException("gone", "AbortError"));
  await assertRejects(() => left!, DOMException, "gone");
  await assertRejects(() => limiter(() => Promise.resolve(), leaving.signal), DOMException, "gone");
  conversations.end();
  await settle();
  assertEquals(conversations.running, 1);
  await conversations.endAll();
});

Deno.test("work that fails no longer counts as running", async () => {
  const limiter = createFairLimiter(1).forRun("http://a");
  await assertRejects(() => limiter(() => Promise.reject(new Error("no"))), Error, "no");
  assertEquals(await limiter(() => Promise.resolve("next")), "next");
});

Deno.test("a run completes while another one hangs with all conversations of the service", async () => {
  await using hanging = await startFaultyEndpoint({ faultOf: () => "a hang" });
  await using quick = await startFaultyEndpoint();
  const config = parseConfig(EvalConfig, { EVAL_CONCURRENCY: "16" });
  const service = createEvalHandler(
    createEvalDeps(config, { log: silentLogger, store: memoryStore() }),
  );
  const evaluate = (endpoint: string, signal: AbortSignal) => {
    const interactions = [{ id: "i", user_message: "Hello" }];
    const body = { test_batch: { id: "s", interactions }, endpoint, model_id: "m", attempts: 40 };
    return service(new Request(evaluateRequestOf(body), { signal }));
  };
  const leaving = new AbortController();
  // Its other conversations count as running too: they wait for the first call.
  const stuck = evaluate(`${hanging.origin}/v1/chat/completions`, leaving.signal).catch(() => {});
  await until(() => hanging.underWay > 0);
  const response = await evaluate(quick.baseUrl, new AbortController().signal);
  assertEquals((await response.json()).message, "Evaluation completed successfully");
  leaving.abort();
  await stuck;
});

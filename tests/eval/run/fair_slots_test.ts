import { assertEquals, assertRejects } from "@std/assert";
import { EvalConfig } from "../../../eval/config.ts";
import { createFairSlots, type Slot } from "../../../eval/run/fair_slots.ts";
import { createEvalHandler } from "../../../eval/handler.ts";
import { createEvalDeps } from "../../../eval/wiring.ts";
import { parseConfig } from "../../../shared/config.ts";
import { silentLogger } from "../../../shared/log.ts";
import { evaluateRequestOf } from "../../fakes/eval_service.ts";
import { startFaultyEndpoint } from "../../fakes/faulty_endpoint.ts";
import { memoryStore } from "../../fakes/memory_store.ts";

/** Conversations that last until the test ends them. */
function talksIn(slot: Slot) {
  const under: (() => void)[] = [];
  const all: Promise<void>[] = [];
  return {
    start(count: number, signal?: AbortSignal): Promise<void>[] {
      const started = Array.from(
        { length: count },
        () => slot(() => new Promise<void>((resolve) => under.push(resolve)), signal),
      );
      all.push(...started);
      return started;
    },
    get underWay() {
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

Deno.test("a run alone has every place, and no more", async () => {
  const talks = talksIn(createFairSlots(16).forRun("http://a"));
  talks.start(20);
  await settle();
  assertEquals(talks.underWay, 16);
  talks.end(3);
  await settle();
  assertEquals(talks.underWay, 16);
  await talks.endAll();
});

Deno.test("an endpoint that hangs with all places does not stop a run at another endpoint", async () => {
  const slots = createFairSlots(64);
  const hanging = talksIn(slots.forRun("http://hanging/v1"));
  const small = talksIn(slots.forRun("http://quick/v1"));
  hanging.start(100);
  await settle();
  small.start(20);
  await settle();
  assertEquals([hanging.underWay, small.underWay], [64, 8]);
  for (let rounds = 0; rounds < 3 && small.underWay > 0; rounds++) {
    small.end();
    await settle();
  }
  assertEquals([hanging.underWay, small.underWay], [64, 0]);
  await hanging.endAll();
});

Deno.test("however many endpoints hang, at most twice the places are taken", async () => {
  const slots = createFairSlots(16);
  const talks = Array.from({ length: 20 }, (_, index) => talksIn(slots.forRun(`http://h${index}`)));
  for (const each of talks) each.start(16);
  await settle();
  assertEquals(talks.reduce((sum, { underWay }) => sum + underWay, 0), 32);
  for (let rounds = 0; rounds < 20; rounds++) {
    talks.forEach((each) => each.end());
    await settle();
  }
  assertEquals(talks.map(({ underWay }) => underWay), talks.map(() => 0));
});

Deno.test("fewer than eight places are never exceeded", async () => {
  const slots = createFairSlots(5);
  const [one, two] = ["http://a", "http://b"].map((url) => talksIn(slots.forRun(url)));
  one!.start(5);
  two!.start(5);
  await settle();
  assertEquals([one!.underWay, two!.underWay], [5, 0]);
  one!.end(1);
  await settle();
  assertEquals([one!.underWay, two!.underWay], [4, 1]);
  await one!.endAll();
  await two!.endAll();
});

Deno.test("places that become free go to the endpoint that has fewest, then to the run that has fewest", async () => {
  const slots = createFairSlots(8);
  const large = talksIn(slots.forRun("http://a/v1"));
  const small = talksIn(slots.forRun("http://a/v2"));
  const other = talksIn(slots.forRun("http://b"));
  large.start(40);
  await settle();
  small.start(40);
  other.start(40);
  await settle();
  assertEquals([large.underWay, small.underWay, other.underWay], [8, 0, 1]);
  for (let ended = 0; ended < 8; ended++) {
    large.end(1);
    await settle();
  }
  assertEquals([large.underWay, small.underWay, other.underWay], [2, 2, 4]);
  for (const each of [large, small, other]) await each.endAll();
});

Deno.test("who leaves while waiting takes no place, and one who has left before never waits", async () => {
  const slots = createFairSlots(1);
  const slot = slots.forRun("http://a");
  const talks = talksIn(slot);
  talks.start(1);
  const leaving = new AbortController();
  const [left] = talks.start(1, leaving.signal);
  talks.start(1);
  leaving.abort(new DOMException("gone", "AbortError"));
  await assertRejects(() => left!, DOMException, "gone");
  await assertRejects(() => slot(() => Promise.resolve(), leaving.signal), DOMException, "gone");
  talks.end();
  await settle();
  assertEquals(talks.underWay, 1);
  await talks.endAll();
});

Deno.test("work that fails gives its place back", async () => {
  const slot = createFairSlots(1).forRun("http://a");
  await assertRejects(() => slot(() => Promise.reject(new Error("no"))), Error, "no");
  assertEquals(await slot(() => Promise.resolve("next")), "next");
});

Deno.test("a run is evaluated to its end while another hangs in every place of the service", async () => {
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
  // Its other conversations hold their places too, and wait for the first call.
  const stuck = evaluate(`${hanging.origin}/v1/chat/completions`, leaving.signal).catch(() => {});
  while (hanging.underWay === 0) await settle();
  const response = await evaluate(quick.baseUrl, new AbortController().signal);
  assertEquals((await response.json()).message, "Evaluation completed successfully");
  leaving.abort();
  await stuck;
});

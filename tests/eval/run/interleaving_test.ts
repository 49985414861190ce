import { assert, assertEquals } from "@std/assert";
import { createFairLimiter } from "../../../eval/run/execute/fair_limiter.ts";
import { createInterleaving } from "../../../eval/run/execute/interleaving.ts";
import { runScenarios } from "../../../eval/run/execute/runner.ts";
import { createLocalWork } from "../../../eval/run/manager/work.ts";
import type { Target } from "../../../eval/endpoint/target.ts";
import { planOf } from "../../../eval/schemas/conversations.ts";
import { plainAssessor } from "../../fakes/eval_ports.ts";
import { gatedTarget } from "../../fakes/gated_target.ts";
import { evaluateRequest } from "../../fakes/stored_runs.ts";
import { until } from "../../fakes/until.ts";

const ENDPOINT = "http://127.0.0.1:9/v1";
const group = (index: number) => ({ id: "g", index, name: `model ${index}` });

interface Model {
  target: Target;
  endpoint?: string;
}

/** Runs a batch with each model as a group; `order` has the model of each call, as they came. */
function startGroup(
  models: Model[],
  { scenarios, concurrency, isGroup = true }: {
    scenarios: number;
    concurrency: number;
    isGroup?: boolean;
  },
) {
  const interleaving = createInterleaving(concurrency);
  const limiter = createFairLimiter(concurrency);
  const order: number[] = [];
  const places = models.map(({ endpoint = ENDPOINT }, index) =>
    interleaving.enter({ group: isGroup ? group(index) : null, endpoint })
  );
  const ended = models.map(async ({ target, endpoint = ENDPOINT }, index) => {
    const request = evaluateRequest({ scenarios });
    const plan = planOf(request);
    const work = places[index]?.share(createLocalWork(plan));
    await runScenarios({ ...plan, scenarios: request.test_batch }, {
      target: {
        ask(conversation, signal) {
          order.push(index);
          return target.ask(conversation, signal);
        },
      },
      assessor: plainAssessor,
      recorder: { record: () => {} },
      ...(work && { work }),
      limiter: limiter.forRun(endpoint),
      concurrency,
      signal: new AbortController().signal,
    });
    places[index]?.leave();
  });
  return { order, ended: Promise.all(ended) };
}

const openTarget = (): Target => ({ ask: () => Promise.resolve({ content: "", usage: null }) });

/** The largest lead that a model ever had in conversations begun. */
function largestLead(order: number[], models: number): number {
  const begun = Array<number>(models).fill(0);
  let lead = 0;
  for (const model of order) {
    begun[model]!++;
    if (begun.every((count) => count < 30)) {
      lead = Math.max(lead, Math.max(...begun) - Math.min(...begun));
    }
  }
  return lead;
}

Deno.test("the first conversations of a group are shared by its models, not taken by the first", async () => {
  const gate = gatedTarget();
  const models = [0, 1, 2].map(() => ({ target: gate.target }));
  const { order, ended } = startGroup(models, { scenarios: 30, concurrency: 12 });
  await gate.reached(12);
  assertEquals([0, 1, 2].map((model) => order.filter((one) => one === model).length), [4, 4, 4]);
  gate.open();
  await ended;
  assertEquals(order.length, 90);
});

Deno.test("without a group the first run takes all places, so the models would meet other hours", async () => {
  const gate = gatedTarget();
  const models = [0, 1, 2].map(() => ({ target: gate.target }));
  const run = startGroup(models, { scenarios: 30, concurrency: 12, isGroup: false });
  await gate.reached(12);
  assertEquals(run.order, Array(12).fill(0));
  gate.open();
  await run.ended;
});

Deno.test("a fast model waits for a slow one, and the slow one gets the places meanwhile", async () => {
  const slow = gatedTarget();
  const { order, ended } = startGroup([{ target: openTarget() }, { target: slow.target }], {
    scenarios: 30,
    concurrency: 8,
  });
  await slow.reached(8); // all places, because the fast one may not begin more
  const fast = order.filter((model) => model === 0).length;
  assert(fast <= 8 + 4, `${fast} conversations of the fast model`);
  slow.open();
  await ended;
  assertEquals(order.length, 60);
  assert(largestLead(order, 2) <= 12, `${largestLead(order, 2)}`);
});

Deno.test("models at different endpoints do not wait for each other", async () => {
  const hanging = gatedTarget();
  const { order, ended } = startGroup([
    { target: openTarget() },
    { target: hanging.target, endpoint: "http://127.0.0.2:9/v1" },
  ], { scenarios: 30, concurrency: 16 });
  await hanging.reached(1);
  await until(() => order.filter((model) => model === 0).length >= 30);
  hanging.open();
  await ended;
});

Deno.test("nobody waits for a run that has ended, has nothing left or came later", async () => {
  const interleaving = createInterleaving(2);
  const workOf = (index: number, scenarios: number) => {
    const place = interleaving.enter({ group: group(index), endpoint: ENDPOINT })!;
    const plan = planOf(evaluateRequest({ scenarios }));
    return { ...place, work: place.share(createLocalWork(plan)) };
  };
  const { signal } = new AbortController();
  const first = workOf(0, 9);
  const second = workOf(1, 1);
  assert(await first.work.take());
  assertEquals(await first.work.take(), undefined);
  const waiting = first.work.wait(signal);
  assert(await second.work.take());
  assertEquals(await waiting, "more");
  assert(await first.work.take());
  assertEquals(await first.work.take(), undefined);
  assertEquals(await second.work.take(), undefined); // nothing is left of it
  assertEquals(await second.work.wait(signal), "over");
  for (let taken = 2; taken < 5; taken++) assert(await first.work.take());
  const third = workOf(2, 9);
  assert(await first.work.take());
  assertEquals(await first.work.take(), undefined);
  third.leave();
  assert(await first.work.take());
});

Deno.test("a run that waits for its turn stops waiting when it is cancelled", async () => {
  const interleaving = createInterleaving(2);
  const plan = planOf(evaluateRequest({ scenarios: 9 }));
  const [first] = [0, 1].map((index) =>
    interleaving.enter({ group: group(index), endpoint: ENDPOINT })!.share(createLocalWork(plan))
  );
  await first!.take();
  assertEquals(await first!.take(), undefined);
  const cancelled = new AbortController();
  const waiting = first!.wait(cancelled.signal).catch((error) => error);
  cancelled.abort("cancelled");
  assertEquals(await waiting, "cancelled");
});

import { assert, assertEquals } from "@std/assert";
import type { ServiceProcess } from "../fakes/service_process.ts";
import { postgresBin, startPostgres } from "../fakes/postgres_server.ts";
import { startCountingEndpoint } from "./counting_endpoint.ts";
import { awaitEnd, batchOf, readRun, startInstances, startRun } from "./instances.ts";
import { readFigures } from "./stored.ts";
import { until } from "../fakes/until.ts";

const ignore = postgresBin === undefined;
const CONVERSATIONS = 600;
const TURNS = 2;
const CONCURRENCY = 8;

interface SeenEvents {
  ids: number[];
  /** The name of the last event, if the stream has ended. */
  end: string | undefined;
}

/** Reads the events of a run from one instance until `isEnough`, or until the stream ends. */
async function follow(
  instance: ServiceProcess,
  { id, seen, isEnough }: { id: string; seen: SeenEvents; isEnough: () => boolean },
): Promise<void> {
  const last = seen.ids.at(-1);
  const response = await fetch(`${instance.url}/runs/${id}/events`, {
    headers: last === undefined ? {} : { "last-event-id": String(last) },
  });
  let rest = "";
  for await (const text of response.body!.pipeThrough(new TextDecoderStream())) {
    const events = (rest + text).split("\n\n");
    rest = events.pop()!;
    for (const event of events) {
      const name = /^event:\s?(\w+)/m.exec(event)?.[1];
      const seq = /^id:\s?(\d+)/m.exec(event)?.[1];
      if (name === "turn") seen.ids.push(Number(seq));
      if (name === "result" || name === "ended") seen.end = name;
    }
    if (isEnough()) return;
  }
}

Deno.test({
  name: "three instances finish a run while one is killed, one hangs and the database restarts",
  ignore,
  async fn() {
    await using server = await startPostgres();
    const address = await server.createDatabase();
    await using endpoint = startCountingEndpoint({ latencyMs: 40, faultRate: 0.3 });
    await using instances = await startInstances(3, {
      EVAL_DATA: address,
      EVAL_CONCURRENCY: String(CONCURRENCY),
    });
    const [first, second, third] = instances.all as [
      ServiceProcess,
      ServiceProcess,
      ServiceProcess,
    ];
    const done = async () => (await readRun(first, id))?.progress.done ?? 0;
    const reach = async (turns: number) => {
      await until(async () => await done() >= turns, { within: 120_000 });
    };
    const body = batchOf(CONVERSATIONS, { turns: TURNS, endpoint: endpoint.url });
    const id = await startRun(first, body);

    // The events: at the first instance, then at the second, then at the first again.
    const seen: SeenEvents = { ids: [], end: undefined };
    await follow(first, { id, seen, isEnough: () => seen.ids.length >= 100 });
    await follow(second, { id, seen, isEnough: () => seen.ids.length >= 200 });

    await reach(250);
    third.kill("SIGKILL");
    await reach(450);
    const before = await done();
    second.kill("SIGSTOP");
    await reach(Math.min(before + 150, 700));
    await new Promise((resolve) => setTimeout(resolve, 14_000)); // its conversations are taken over
    second.kill("SIGCONT");
    await instances.restart(2);
    await reach(800);
    await server.stop();
    await server.start();

    const end = await awaitEnd(() => [first, second, instances.all[2]!], id);
    assertEquals([end.status, end.progress.done], ["completed", CONVERSATIONS * TURNS]);

    const figures = await readFigures(address);
    const { turns, positions, seqs, orphans, statuses } = figures;
    assertEquals({ turns, positions, seqs, orphans, statuses }, {
      turns: CONVERSATIONS * TURNS,
      positions: CONVERSATIONS * TURNS,
      seqs: CONVERSATIONS * TURNS,
      orphans: 0,
      statuses: { completed: 1 },
    });

    // Events are resumed at the end, at an instance that was started later.
    await follow(instances.all[2]!, { id, seen, isEnough: () => false });
    assertEquals(seen.end, "result");
    assertEquals(seen.ids.length, CONVERSATIONS * TURNS, "an event was missed or repeated");
    assertEquals(seen.ids, [...new Set(seen.ids)].toSorted((a, b) => a - b));

    // A call fails by itself up to three times. What is repeated beyond that is what instances had
    // under way: the one that died, the one that hung, and all three when the database restarted.
    const repeated = [...endpoint.calls.values()].filter((calls) => calls > 3).length;
    assert(repeated <= 5 * CONCURRENCY, `${repeated} questions were asked again`);
  },
});

const STEP_MS = 50;

/** Milliseconds during which this process ran: a machine that stands still adds one step. */
function startRunningClock() {
  let now = 0;
  const timer = setInterval(() => now += STEP_MS, STEP_MS);
  return { now: () => now, [Symbol.dispose]: () => clearInterval(timer) };
}

Deno.test({
  name: "a cancel at one instance stops the calls of all within two seconds, and ends the run once",
  ignore,
  async fn() {
    await using server = await startPostgres();
    const address = await server.createDatabase();
    using clock = startRunningClock();
    await using endpoint = startCountingEndpoint({ latencyMs: 50, now: clock.now });
    await using instances = await startInstances(3, {
      EVAL_DATA: address,
      EVAL_CONCURRENCY: String(CONCURRENCY),
    });
    const [first, , third] = instances.all as [ServiceProcess, ServiceProcess, ServiceProcess];
    const id = await startRun(first, batchOf(2000, { turns: 2, endpoint: endpoint.url }));
    await until(() => endpoint.total >= 300, { within: 120_000 });
    const response = await fetch(`${third.url}/runs/${id}/cancel`, { method: "POST" });
    const cancelledAt = clock.now();
    assertEquals((await response.json()).status, "cancelled");
    await new Promise((resolve) => setTimeout(resolve, 4_000));
    const lateMs = endpoint.lastCallAt - cancelledAt;
    assert(lateMs < 2_000, `the last call came ${lateMs} ms after the cancel`);
    const states = await Promise.all(instances.all.map((instance) => readRun(instance, id)));
    assertEquals(states.map((state) => state?.status), ["cancelled", "cancelled", "cancelled"]);
    const { turns } = await readFigures(address);
    assertEquals(states[0]!.progress.done, turns);
  },
});

Deno.test({
  name:
    "two clients with one key at two instances get one run; if one leaves, the other has its result",
  ignore,
  async fn() {
    await using server = await startPostgres();
    const address = await server.createDatabase();
    await using endpoint = startCountingEndpoint({ latencyMs: 50 });
    await using instances = await startInstances(2, {
      EVAL_DATA: address,
      EVAL_CONCURRENCY: String(CONCURRENCY),
    });
    const [first, second] = instances.all as [ServiceProcess, ServiceProcess];
    const body = JSON.stringify(batchOf(200, { turns: 2, endpoint: endpoint.url }));
    const headers = { "content-type": "application/json", "idempotency-key": "k" };
    const leaving = new AbortController();
    const { signal } = leaving;
    const evaluate = (url: string, more: RequestInit = {}) =>
      fetch(`${url}/evaluate`, { method: "POST", headers, body, ...more });
    const left = evaluate(first.url, { signal }).catch(() => "left");
    const stayed = evaluate(second.url);
    await until(() => endpoint.total >= 60, { within: 120_000 });
    leaving.abort();
    assertEquals(await left, "left");
    const response = await stayed;
    assertEquals(response.status, 200, await response.clone().text());
    const { results } = await response.json();
    assertEquals(results.scenarios.length, 200);
    const { turns, statuses } = await readFigures(address);
    assertEquals([turns, statuses], [400, { completed: 1 }]);
  },
});

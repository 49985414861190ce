import type { ActiveRun } from "../../../eval/run/active_run.ts";
import { assert, assertEquals } from "@std/assert";
import { type Retention, startRetention } from "../../../eval/run/retention.ts";
import type { RunStore } from "../../../eval/store/store.ts";
import { AppError } from "../../../shared/service/errors.ts";
import { createLogger } from "../../../shared/service/log.ts";
import { providerError } from "../../fakes/eval_ports.ts";
import {
  callRoute,
  evalService,
  evaluateBody,
  evaluateRequestOf,
  TWO_TURNS,
} from "../../fakes/eval_service.ts";
import { gatedTarget } from "../../fakes/gated_target.ts";
import { leftByAnother } from "../../fakes/left_run.ts";
import { memoryStore } from "../../fakes/memory_store.ts";
import { evaluateRequest } from "../../fakes/stored_runs.ts";
import { until } from "../../fakes/until.ts";

Deno.test("a run whose endpoint is no longer allowed fails with the reason, without a call", async () => {
  const { store, id } = await leftByAnother();
  const { runs, asked } = evalService(() => "", {
    store,
    environment: { EVAL_ENDPOINTS: "https://other.example.com" },
  });
  await runs.resumeUnfinished();
  await runs.active(id)?.ended;
  const run = await store.getRun(id);
  assertEquals([run?.status, asked.length], ["failed", 0]);
  assertEquals(
    run?.detail,
    "cannot evaluate http://127.0.0.1:9: it is not listed in EVAL_ENDPOINTS",
  );
});

Deno.test("stopping finishes the current turn, starts no other and leaves a run that can be resumed", async () => {
  const { store, id } = await leftByAnother();
  const gate = gatedTarget();
  const { runs } = evalService(() => "", { store, target: gate.target });
  await runs.resumeUnfinished();
  await gate.reached(1);
  const stopped = runs.stop();
  gate.open();
  await stopped;
  assertEquals(gate.asked.length, 1);
  assertEquals((await store.tally(id)).done, 2);
  assertEquals(await store.unfinishedRuns(), [id]);
  const next = evalService(() => "", { store });
  await next.runs.resumeUnfinished();
  await next.runs.active(id)?.ended;
  assertEquals([next.asked.length, (await store.getRun(id))?.status], [1, "completed"]);
});

Deno.test("stopping waits for a run whose client is waiting", async () => {
  const gate = gatedTarget();
  const { runs, service } = evalService(() => "", gate);
  const answer = service(evaluateRequestOf(evaluateBody(TWO_TURNS)));
  await gate.reached(1);
  const stopped = runs.stop();
  gate.open();
  await stopped;
  assertEquals((await answer).status, 200);
});

Deno.test("progress has the mean so far, the failed turns and the remaining time", async () => {
  let calls = 0;
  const seen: { active?: ActiveRun; mean?: number | null } = {};
  const { runs } = evalService(() => {
    if (++calls === 2) throw providerError(500);
    if (calls === 4) seen.mean = seen.active!.progress().mean;
    return "right";
  });
  const request = evaluateRequest({ turns: 4 });
  for (const turn of request.test_batch[0]!.interactions) turn.reference_reply = "right";
  const started = await runs.start({ request, testName: "t" });
  if (started.outcome !== "started") throw new Error(started.outcome);
  const { active } = started;
  seen.active = active;
  await active.ended;
  assert([1 / 2, 2 / 3].includes(seen.mean!), "of two or three turns, of which the second failed");
  assertEquals(active.progress(), {
    done: 4,
    failed: 1,
    missing: 0,
    total: 4,
    mean: null, // the run has the overall of its report now
    eta_ms: 0,
  });
});

Deno.test("a run that is abandoned at the end of the process stays running, even if a client waits for it", async () => {
  const gate = gatedTarget();
  const { runs, store, service } = evalService(() => "", gate);
  const answer = service(evaluateRequestOf(evaluateBody(TWO_TURNS)));
  await gate.reached(1);
  const stopped = runs.stop();
  runs.abandon();
  await stopped;
  const { status, headers } = await answer;
  const [id] = await store.unfinishedRuns();
  assertEquals([status, headers.get("location")], [503, `/runs/${id}`]);
});

/** A service that may have one run, and has one; another of an earlier process waits for its turn. */
async function serviceWithQueuedRun() {
  const store = memoryStore();
  const gateBefore = gatedTarget();
  const stopped = evalService(() => "", { store, target: gateBefore.target });
  const older = await store.createRun({ request: evaluateRequest(), testName: "older" });
  const headers = { "idempotency-key": "k", prefer: "respond-async" };
  const begun = await stopped.service(evaluateRequestOf(evaluateBody(), headers));
  const { run_id: id } = await begun.json();
  await gateBefore.reached(1);
  stopped.runs.abandon();
  await stopped.runs.stop();

  const gate = gatedTarget();
  const environment = { MAX_RUNS: "1" };
  const { runs, service } = evalService(() => "", { store, target: gate.target, environment });
  await runs.resumeUnfinished();
  await gate.reached(1);
  assert(runs.active(older.id));
  assert(runs.isQueued(id));
  const repeat = () => service(evaluateRequestOf(evaluateBody(), { "idempotency-key": "k" }));
  return { id, gate, runs, service, repeat };
}

Deno.test("a repeated request for a queued run is answered with its result once it has been resumed", async () => {
  const { gate, repeat } = await serviceWithQueuedRun();
  const repeated = repeat();
  gate.open();
  const response = await repeated;
  assertEquals([response.status, (await response.json()).message], [
    200,
    "Evaluation completed successfully",
  ]);
  assertEquals(gate.asked.length, 2);
});

Deno.test("a caller who waits for a queued run that is cancelled is told so", async () => {
  const { id, gate, runs, service, repeat } = await serviceWithQueuedRun();
  const repeated = repeat();
  await new Promise((resolve) => setTimeout(resolve)); // by now it waits
  assertEquals((await callRoute(service, `POST /runs/${id}/cancel`)).status, 200);
  const response = await repeated;
  assertEquals([response.status, (await response.json()).detail], [
    409,
    `cannot answer with a result: run ${id} is cancelled`,
  ]);
  gate.open();
  await runs.stop();
});

Deno.test("a run that the storage interrupted waits until MAX_RUNS allows it", async () => {
  const store = memoryStore();
  const { recordTurn } = store;
  store.recordTurn = () => {
    store.recordTurn = recordTurn;
    return Promise.reject(new AppError(503, "storage_busy", "locked"));
  };
  const gate = gatedTarget();
  const environment = { MAX_RUNS: "1" };
  const { runs } = evalService(() => "", { store, target: gate.target, environment });
  const begin = async (testName: string) => {
    const started = await runs.start({ request: evaluateRequest(), testName });
    if (started.outcome !== "started") throw new Error(started.outcome);
    return started.active;
  };
  const first = await begin("first");
  await gate.reached(1);
  gate.answer(0);
  assertEquals((await first.ended).status, "interrupted");
  const second = await begin("second");
  const { id } = first.run;
  await until(() => runs.isQueued(id), { what: () => "the run waits for a place" });
  await gate.reached(2);
  gate.answer(1);
  assertEquals((await second.ended).status, "completed");
  assertEquals((await runs.end(id, new AbortController().signal)).status, "completed");
  assertEquals([(await store.getRun(id))?.status, gate.asked.length], ["completed", 2]);
});

const HOUR = 60 * 60 * 1000;
const DAY = 24 * HOUR;
const START = 1_000_000_000_000;

/** A store with a run that ended ten days ago and one of two days ago, and a clock to set. */
async function world() {
  const clock = { now: START, elapsed: 0 };
  const store = memoryStore({ now: () => clock.now });
  for (const testName of ["ten days old", "two days old"]) {
    const { id } = await store.createRun({ request: evaluateRequest(), testName });
    await store.setStatus(id, { status: "completed" });
    clock.now += 8 * DAY;
  }
  clock.now -= 6 * DAY;
  const lines: Record<string, unknown>[] = [];
  const log = createLogger({
    level: "info",
    format: "json",
    write: (line) => lines.push(JSON.parse(line)),
  });
  function start(options: { keepDays?: number; trustsClock?: boolean } = {}): Promise<Retention> {
    const now = () => clock.now;
    const elapsed = () => clock.elapsed;
    return startRetention({ store, log, keepDays: undefined, ...options, now, elapsed });
  }
  return { clock, store, lines, start };
}

const names = async (store: RunStore) =>
  (await store.listRuns({ limit: 9 })).runs.map(({ testName }) => testName);

Deno.test("runs are kept for EVAL_KEEP_DAYS days", async () => {
  const { store, start } = await world();
  (await start({ keepDays: 7 })).stop();
  assertEquals(await names(store), ["two days old"]);
});

Deno.test("runs are never deleted if EVAL_KEEP_DAYS is unset", async () => {
  const { store, start } = await world();
  (await start()).stop();
  assertEquals(await names(store), ["two days old", "ten days old"]);
});

Deno.test("nothing is deleted after a jump of the clock or at the next start, and the log says how many runs are concerned", async () => {
  const { clock, store, lines, start } = await world();
  (await start({ keepDays: 30 })).stop();
  clock.now += 5 * 365 * DAY;
  const { id } = await store.createRun({ request: evaluateRequest(), testName: "of the future" });
  await store.setStatus(id, { status: "completed" });
  for (let restart = 0; restart < 3; restart++) (await start({ keepDays: 30 })).stop();
  assertEquals((await names(store)).length, 3);
  assertEquals(lines.map(({ level, runs }) => [level, runs]), Array(3).fill(["warn", 2]));
});

Deno.test("a clock that runs evenly after its jump is trusted at the next sweep", async () => {
  const { clock, store, start } = await world();
  (await start({ keepDays: 7 })).stop();
  clock.now += 20 * DAY; // the service was off
  const retention = await start({ keepDays: 7 });
  retention.stop();
  assertEquals(await names(store), ["two days old"]);
  clock.now += 5 * DAY; // within an hour: the clock is still being set
  clock.elapsed += HOUR;
  await retention.sweep();
  assertEquals(await names(store), ["two days old"]);
  clock.now += HOUR;
  clock.elapsed += HOUR;
  await retention.sweep();
  assertEquals(await names(store), []);
});

Deno.test("a service that was off for two days deletes at once; after a longer time it waits", async () => {
  for (const [offMs, isDeleted] of [[2 * DAY, true], [2 * DAY + 1, false]] as const) {
    const { clock, store, start } = await world();
    (await start({ keepDays: 11 })).stop();
    clock.now += offMs; // the run of ten days ago is too old now
    (await start({ keepDays: 11 })).stop();
    assertEquals((await names(store)).includes("ten days old"), !isDeleted);
  }
});

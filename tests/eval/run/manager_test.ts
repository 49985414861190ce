import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { type ActiveRun, CLIENT_LEFT } from "../../../eval/run/manager/active_run.ts";
import { createAttachedRuns } from "../../../eval/run/manager/attached_runs.ts";
import type { RunManager } from "../../../eval/run/manager/manager.ts";
import { type Retention, startRetention } from "../../../eval/run/manager/retention.ts";
import {
  createSharedRuns,
  type RunWatcher,
  type Sharing,
} from "../../../eval/run/manager/shared_runs.ts";
import type { StoredRun } from "../../../eval/store/runs/run_record.ts";
import type { RunStore } from "../../../eval/store/store.ts";
import { AppError } from "../../../shared/errors.ts";
import { createLogger } from "../../../shared/log.ts";
import { providerError } from "../../fakes/eval_ports.ts";
import {
  callRoute,
  evalService,
  evaluateBody,
  evaluateRequestOf,
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
  const { runs, store } = evalService(() => "", gate);
  const started = await runs.start({ request: evaluateRequest({ turns: 2 }), testName: "t" });
  if (started.outcome !== "started") throw new Error(started.outcome);
  started.active.hold(new AbortController().signal);
  await gate.reached(1);
  const stopped = runs.stop();
  gate.open();
  await stopped;
  assertEquals((await store.getRun(started.active.run.id))?.status, "completed");
});

Deno.test("progress has the mean so far, the failed turns and the remaining time", async () => {
  let calls = 0;
  const { runs } = evalService(() => {
    if (++calls === 2) throw providerError(500);
    return "right";
  });
  const request = evaluateRequest({ turns: 4 });
  for (const turn of request.test_batch[0]!.interactions) turn.reference_reply = "right";
  const started = await runs.start({ request, testName: "t" });
  if (started.outcome !== "started") throw new Error(started.outcome);
  await started.active.ended;
  assertEquals(started.active.progress(), {
    done: 4,
    failed: 1,
    missing: 0,
    total: 4,
    mean: 0.75,
    eta_ms: 0,
  });
});

Deno.test("a run whose endpoint had a query is interrupted after a restart, and its detail says what to do", async () => {
  const store = memoryStore();
  const endpoint = "http://127.0.0.1:9/v1?key=hidden";
  const request = evaluateRequest({ endpoint });
  const { id } = await store.createRun({ request, testName: "t" });
  const connected: string[] = [];
  const { runs, asked, service } = evalService(() => "fine", {
    store,
    connect: (request) => void connected.push(request.endpoint),
  });
  await runs.resumeUnfinished();
  await runs.active(id)?.ended;
  const run = (await store.getRun(id))!;
  assertEquals([run.status, asked.length], ["interrupted", 0]);
  assertStringIncludes(run.detail!, "send the request again");
  assertStringIncludes(run.detail!, "EVAL_CREDENTIALS");
  const retry = await service(
    new Request(`http://127.0.0.1:8080/runs/${id}/retry`, { method: "POST" }),
  );
  assertEquals(retry.status, 409);
  assertStringIncludes((await retry.json()).detail, "query");
  await (await runs.resume(run, { endpoint })).ended;
  assertEquals([(await store.getRun(id))?.status, connected], ["completed", [endpoint]]);
});

Deno.test("a run that is abandoned at the end of the process stays running, even if a client waits for it", async () => {
  const gate = gatedTarget();
  const { runs, store } = evalService(() => "", gate);
  const started = await runs.start({ request: evaluateRequest({ turns: 2 }), testName: "t" });
  if (started.outcome !== "started") throw new Error(started.outcome);
  const client = new AbortController();
  started.active.hold(client.signal);
  await gate.reached(1);
  const stopped = runs.stop();
  runs.abandon();
  client.abort(); // the server closes the connection at the end
  await stopped;
  assertEquals((await started.active.ended).status, "running");
  assertEquals(await store.unfinishedRuns(), [started.active.run.id]);
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
  const environment = { EVAL_MAX_RUNS: "1" };
  const { runs, service } = evalService(() => "", { store, target: gate.target, environment });
  await runs.resumeUnfinished();
  await gate.reached(1);
  assert(runs.active(older.id));
  assert(runs.waiting(id));
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
  const isWaitedFor = Promise.withResolvers<void>();
  const { waiting } = runs;
  runs.waiting = (run) => {
    setTimeout(isWaitedFor.resolve); // after all that follows at once
    return waiting(run);
  };
  const repeated = repeat();
  await isWaitedFor.promise;
  assertEquals((await callRoute(service, `POST /runs/${id}/cancel`)).status, 200);
  const response = await repeated;
  assertEquals([response.status, (await response.json()).detail], [
    409,
    `cannot answer with a result: run ${id} is cancelled`,
  ]);
  gate.open();
  await runs.stop();
});

Deno.test("a run that the storage interrupted waits until EVAL_MAX_RUNS allows it", async () => {
  const store = memoryStore();
  const { recordTurn } = store;
  store.recordTurn = () => {
    store.recordTurn = recordTurn;
    return Promise.reject(new AppError(503, "storage_busy", "locked"));
  };
  const gate = gatedTarget();
  const environment = { EVAL_MAX_RUNS: "1" };
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
  const isAtRest = async () =>
    !runs.waiting(id) && !runs.active(id) && (await store.getRun(id))?.status === "running";
  await until(async () => !await isAtRest());
  assert(runs.waiting(id), "it went on without a place");
  await gate.reached(2);
  const goesOn = runs.waiting(id);
  gate.answer(1);
  assertEquals((await second.ended).status, "completed");
  await goesOn;
  await runs.active(id)?.ended;
  assertEquals([(await store.getRun(id))?.status, gate.asked.length], ["completed", 2]);
});

Deno.test("a caller who comes back to a lost run while the service is full gets 503, and may come again", async () => {
  const gate = gatedTarget();
  const environment = { EVAL_MAX_RUNS: "1" };
  const { runs, service, store } = evalService(() => "", { target: gate.target, environment });
  const ask = (init: RequestInit = {}) => {
    const request = evaluateRequestOf(evaluateBody(), { "idempotency-key": "k" });
    return service(new Request(request, init));
  };
  const client = new AbortController();
  const lost = ask({ signal: client.signal });
  await gate.reached(1);
  client.abort();
  await lost;
  await until(() => runs.count === 0);
  await service(evaluateRequestOf(evaluateBody(), { prefer: "respond-async" }));
  await gate.reached(2);
  const refused = await ask();
  assertEquals([refused.status, (await refused.json()).code], [503, "overloaded"]);
  const [, { id }] = (await store.listRuns({ limit: 2 })).runs as [unknown, { id: string }];
  assertEquals((await store.getRun(id))?.status, "cancelled");
  gate.open();
  await until(() => runs.count === 0);
  assertEquals((await ask()).status, 200);
});

Deno.test("a run that waits for its turn is detached, too, and continues if a client leaves elsewhere", async () => {
  const run = { id: "r", status: "cancelled", detail: CLIENT_LEFT } as StoredRun;
  const turn = Promise.withResolvers<void>();
  const isDetachedAgain = Promise.withResolvers<void>();
  const detached: string[] = [];
  const createActive = (status: string, onDetach: () => void) => ({
    run,
    ended: Promise.resolve({ status }),
    detach() {
      detached.push(status);
      onDetach();
    },
  });
  let active: unknown;
  let isQueued = true;
  const runs = {
    isShared: true,
    waiting: () => isQueued ? turn.promise : undefined,
    active: () => active,
    resume: () => Promise.resolve(createActive("completed", isDetachedAgain.resolve)),
  } as unknown as RunManager;
  const store = {
    getRecord: () => Promise.resolve(run),
    getRun: () => Promise.resolve(run),
  } as unknown as RunStore;

  createAttachedRuns({ store, runs }).detach({ run, active: undefined, endpoint: "e" });
  isQueued = false;
  active = createActive("cancelled", () => active = undefined); // it ends at once
  turn.resolve();
  await isDetachedAgain.promise;
  assertEquals(detached, ["cancelled", "completed"]);
});

Deno.test("a stream goes on, too, if another instance was the first to resume a run whose client left", async () => {
  const lost = { id: "r", status: "cancelled", detail: CLIENT_LEFT } as StoredRun;
  const client = new AbortController().signal;
  const held: AbortSignal[] = [];
  const runs = {
    isShared: true,
    isStopping: false,
    waiting: () => undefined,
    active: () => undefined,
    resume: () => Promise.resolve({ hold: (client: AbortSignal) => held.push(client) }),
  };
  const regain = (now: Partial<StoredRun>) => {
    const store = { getRecord: () => Promise.resolve(now), getRun: () => Promise.resolve(now) };
    return createAttachedRuns({
      store: store as unknown as RunStore,
      runs: runs as unknown as RunManager,
    }).regain({ run: lost, active: undefined, endpoint: "e" }, client);
  };
  assertEquals(await regain({ ...lost, status: "running", detail: null }), true);
  assertEquals(held, [client]);
  assertEquals(await regain({ ...lost, detail: "cancelled by a caller" }), false);
  runs.isStopping = true;
  assertEquals(await regain({ ...lost, status: "running", detail: null }), false);
  assertEquals(await regain(lost), true); // no other instance has resumed it
});

Deno.test("a stream follows a run that another instance has resumed if this one may run no more", async () => {
  const lost = { id: "r", status: "cancelled", detail: CLIENT_LEFT } as StoredRun;
  const runs = {
    isShared: true,
    waiting: () => undefined,
    active: () => undefined,
    resume: () => Promise.reject(new AppError(503, "overloaded", "too many runs")),
  };
  const regain = (now: StoredRun) => {
    const store = { getRecord: () => Promise.resolve(now), getRun: () => Promise.resolve(now) };
    return createAttachedRuns({
      store: store as unknown as RunStore,
      runs: runs as unknown as RunManager,
    }).regain({ run: lost, active: undefined, endpoint: "e" }, new AbortController().signal);
  };
  assertEquals(await regain({ ...lost, status: "running", detail: null }), true);
  await assertRejects(() => regain(lost), AppError, "too many runs"); // none works on it
});

Deno.test("who waits for a queued run that is deleted at another instance is told so with 409", async () => {
  const runs = { isShared: true, waiting: () => undefined, active: () => undefined };
  const gone = () => Promise.resolve(undefined);
  const held = createAttachedRuns({
    store: { getRecord: gone, getRun: gone } as unknown as RunStore,
    runs: runs as unknown as RunManager,
  });
  const run = { id: "r", status: "running" } as StoredRun;
  const error = await assertRejects(
    () => held.hold({ run, active: undefined, endpoint: "e" }, new AbortController().signal),
    AppError,
    "it was ended or deleted meanwhile",
  );
  assertEquals([error.status, error.code], [409, "conflict"]);
});

/** What a process that knows the query of `mine` joins. */
function watched() {
  let watcher: RunWatcher | undefined;
  let moment = 0;
  const joined: string[] = [];
  const shared = createSharedRuns({
    sharing: {
      openWork: () => Promise.reject(new Error("not needed")),
      watch: (added) => void (watcher = added),
      news: () => Promise.resolve(),
      isExclusive: false,
      stop() {},
    },
    store: memoryStore(),
    runs: new Map(),
    knowsQuery: (id) => id === "mine",
    join: (ids) => void joined.push(...ids),
    now: () => moment,
  });
  shared.watch();
  return (atMs: number, ...open: { id: string; queryRemoved: boolean }[]) => {
    moment = atMs;
    joined.length = 0;
    watcher!.join(open);
    return [...joined];
  };
}

const plain = { id: "plain", queryRemoved: false };
const mine = { id: "mine", queryRemoved: true };
const others = { id: "others", queryRemoved: true };

Deno.test("a run whose query another process knows is left to it for ten seconds, the others are joined at once", () => {
  const join = watched();
  assertEquals(join(0, plain, mine, others), ["plain", "mine"]);
  assertEquals(join(9_999, others), []);
  assertEquals(join(10_000, others), ["others"]);
});

Deno.test("the ten seconds begin anew if the process that knows the query has reserved the run again", () => {
  const join = watched();
  assertEquals(join(0, others), []);
  assertEquals(join(5_000), []);
  assertEquals(join(11_000, others), []);
  assertEquals(join(21_000, others), ["others"]);
});

Deno.test("the counts of a shared run are read at most every quarter of a second", async () => {
  let moment = 0;
  let reads = 0;
  const tally = () => Promise.resolve(void reads++ as never);
  const shared = createSharedRuns({
    sharing: { isExclusive: false } as Sharing,
    store: { ...memoryStore(), tally },
    runs: new Map(),
    knowsQuery: () => false,
    join() {},
    now: () => moment,
  });
  const active = { run: { id: "shared" }, sync() {} } as unknown as ActiveRun;
  for (const at of [0, 1, 249, 250, 499, 500]) {
    moment = at;
    await shared.refresh(active);
  }
  assertEquals(reads, 3);
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

Deno.test("EVAL_TRUST_CLOCK deletes at once", async () => {
  const { clock, store, start } = await world();
  (await start({ keepDays: 30 })).stop();
  clock.now += 60 * DAY;
  (await start({ keepDays: 30, trustsClock: true })).stop();
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

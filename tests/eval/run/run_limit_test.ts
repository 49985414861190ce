import { assert, assertEquals } from "@std/assert";
import { AppError } from "../../../shared/errors.ts";
import {
  callRoute,
  evalService,
  evaluateBody,
  evaluateRequestOf,
} from "../../fakes/eval_service.ts";
import { gatedTarget } from "../../fakes/gated_target.ts";
import { memoryStore } from "../../fakes/memory_store.ts";
import { evaluateRequest } from "../../fakes/stored_runs.ts";
import { until } from "../../fakes/until.ts";

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

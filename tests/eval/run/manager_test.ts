import { assertEquals, assertStringIncludes } from "@std/assert";
import { providerError } from "../../fakes/eval_ports.ts";
import { evalService } from "../../fakes/eval_service.ts";
import { gatedTarget } from "../../fakes/gated_target.ts";
import { leftByAnother } from "../../fakes/left_run.ts";
import { memoryStore } from "../../fakes/memory_store.ts";
import { evaluateRequest } from "../../fakes/stored_runs.ts";

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

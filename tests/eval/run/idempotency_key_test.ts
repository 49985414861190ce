import { assertEquals } from "@std/assert";
import { setImmediate } from "node:timers/promises";
import {
  callRoute,
  evalService,
  evaluateBody,
  evaluateRequestOf,
  TWO_TURNS,
} from "../../fakes/eval_service.ts";
import { readEvents } from "../../fakes/events.ts";
import { gatedTarget } from "../../fakes/gated_target.ts";
import { memoryStore } from "../../fakes/memory_store.ts";

Deno.test("the same key and body answer with the same run, also while it is running", async () => {
  const gate = gatedTarget();
  const { service } = evalService(() => "", gate);
  const ask = () => service(evaluateRequestOf(evaluateBody(), { "idempotency-key": "k1" }));
  const first = ask();
  await gate.reached(1);
  const second = ask();
  gate.open();
  const third = (await Promise.all([first, second])) && await ask();
  const [a, b, c] = await Promise.all(
    [await first, await second, third].map((response) => response.json()),
  );
  assertEquals(b, a);
  assertEquals(c, a);
  assertEquals(gate.asked.length, 1);
});

Deno.test("the same key with a different body is 422, and calls no endpoint", async () => {
  const { service, asked } = evalService();
  const headers = { "idempotency-key": "k1" };
  await (await service(evaluateRequestOf(evaluateBody(), headers))).text();
  const response = await service(evaluateRequestOf(evaluateBody({ attempts: 2 }), headers));
  assertEquals(response.status, 422);
  assertEquals((await response.json()).code, "idempotency_key_reused");
  assertEquals(asked.length, 1);
});

Deno.test("a key that is empty or too long is refused", async () => {
  const { service } = evalService();
  for (const key of ["", "x".repeat(256)]) {
    const response = await service(evaluateRequestOf(evaluateBody(), { "idempotency-key": key }));
    assertEquals([response.status, (await response.json()).code], [400, "invalid_request"]);
  }
  const longest = { "idempotency-key": "x".repeat(255) };
  assertEquals((await service(evaluateRequestOf(evaluateBody(), longest))).status, 200);
});

Deno.test("a client that reconnects with its key pays only for the remaining turns", async () => {
  const gate = gatedTarget();
  const { service, runs, store } = evalService(() => "", gate);
  const client = new AbortController();
  const request = () => evaluateRequestOf(evaluateBody(TWO_TURNS), { "idempotency-key": "mine" });
  const lost = service(new Request(request(), { signal: client.signal }));
  await gate.reached(1);
  const { id } = (await store.listRuns({ limit: 1 })).runs[0]!;
  const active = runs.active(id)!;
  gate.answer(0);
  await gate.reached(2);
  client.abort();
  await Promise.all([lost, active.ended]);
  gate.open();
  const answer = await (await service(request())).json();
  assertEquals(answer.run_id, id);
  assertEquals(answer.results.scenarios[0].attempts[0].interactions.length, 2);
  assertEquals(gate.asked, ["one", "two", "two"]);
});

Deno.test("a cancelled run that its client resumes is running for all who ask", async () => {
  const gate = gatedTarget();
  const { service, runs, store } = evalService(() => "", gate);
  const client = new AbortController();
  const request = () => evaluateRequestOf(evaluateBody(TWO_TURNS), { "idempotency-key": "mine" });
  const read = async (path: string) => {
    const response = await callRoute(service, `GET ${path}`);
    return { status: response.status, answer: await response.json() };
  };
  const lost = service(new Request(request(), { signal: client.signal }));
  await gate.reached(1);
  const { id } = (await store.listRuns({ limit: 1 })).runs[0]!;
  const active = runs.active(id)!;
  client.abort();
  await Promise.all([lost, active.ended]);
  const back = service(request());
  await gate.reached(2);
  const stored = runs.active(id)!.changed();
  gate.answer(1);
  await stored; // one turn more than when it was cancelled

  const { answer: shown } = await read(`/runs/${id}`);
  const { answer: list } = await read("/runs");
  const summary = await read(`/runs/${id}/summary`);
  assertEquals(
    [shown.status, shown.detail, shown.finished_at, list.runs[0].status, summary.status],
    ["running", null, null, "running", 200],
  );
  gate.open();
  assertEquals((await back).status, 200);
});

Deno.test("a client that reconnects before its cancelled run has ended resumes it", async () => {
  const gate = gatedTarget();
  const store = memoryStore();
  const cancelling = Promise.withResolvers<void>();
  const stored = Promise.withResolvers<void>();
  const met = Promise.withResolvers<void>();
  const { service } = evalService(() => "", {
    ...gate,
    store: {
      ...store,
      async findByKey(key) {
        const known = await store.findByKey(key);
        if (known) met.resolve();
        return known;
      },
      async setStatus(id, change) {
        if (change.status === "cancelled") {
          cancelling.resolve();
          await stored.promise;
        }
        return await store.setStatus(id, change);
      },
    },
  });
  const client = new AbortController();
  const request = () => evaluateRequestOf(evaluateBody(TWO_TURNS), { "idempotency-key": "mine" });
  const lost = service(new Request(request(), { signal: client.signal }));
  await gate.reached(1);
  client.abort();
  await cancelling.promise;
  gate.open();
  const back = service(request());
  await met.promise;
  await setImmediate(); // by now it waits for the run that is ending
  stored.resolve();
  const response = await back;
  const { results } = await response.json();
  assertEquals([(await lost).status, response.status], [499, 200]);
  assertEquals(results.scenarios[0].attempts[0].interactions.length, 2);
});

Deno.test("a run is not cancelled if one of two waiting clients leaves", async () => {
  const gate = gatedTarget();
  const { service } = evalService(() => "", gate);
  const client = new AbortController();
  const request = evaluateRequestOf(evaluateBody(), { "idempotency-key": "shared" });
  const leaving = service(new Request(request, { signal: client.signal }));
  await gate.reached(1);
  const staying = await service(
    evaluateRequestOf(evaluateBody(), { accept: "text/event-stream", "idempotency-key": "shared" }),
  );
  client.abort();
  assertEquals((await leaving).status, 499);
  gate.open();
  const events = await Array.fromAsync(readEvents(staying));
  assertEquals(events.at(-1)?.event, "result");
});

Deno.test("a key of a finished run answers with its result even if the limit of runs is reached", async () => {
  const gate = gatedTarget();
  const { service, runs } = evalService(() => "", {
    ...gate,
    environment: { EVAL_MAX_RUNS: "1" },
  });
  const keyed = () => evaluateRequestOf(evaluateBody(), { "idempotency-key": "k" });
  const first = service(keyed());
  await gate.reached(1);
  gate.answer(0);
  const { run_id } = await (await first).json();
  const waiting = service(evaluateRequestOf(evaluateBody({ test_name: "other" })));
  await gate.reached(2);
  const refused = await service(evaluateRequestOf(evaluateBody({ test_name: "third" })));
  assertEquals([refused.status, (await refused.json()).code], [503, "overloaded"]);
  const again = await service(keyed());
  assertEquals([again.status, (await again.json()).run_id], [200, run_id]);
  gate.open();
  await (await waiting).body?.cancel();
  assertEquals(runs.count, 0);
});

Deno.test("callers with different API keys do not share Idempotency-Keys", async () => {
  const keys = ["one-secret-key-of-16", "other-secret-key-of-16"];
  const { service, asked } = evalService(() => "fine", {
    environment: { API_KEYS: keys.join(",") },
  });
  const ask = async (key: string) => {
    const headers = { "idempotency-key": "nightly", authorization: `Bearer ${key}` };
    return (await (await service(evaluateRequestOf(evaluateBody(), headers))).json()).run_id;
  };
  const ids = [await ask(keys[0]!), await ask(keys[1]!), await ask(keys[0]!)];
  assertEquals(new Set(ids).size, 2);
  assertEquals([ids[2], asked.length], [ids[0], 2]);
});

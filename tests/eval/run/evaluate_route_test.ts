import { assert, assertEquals, assertMatch } from "@std/assert";
import { createEventResponse } from "../../../eval/run/event_response.ts";
import { AppError } from "../../../shared/service/errors.ts";
import { createLogger } from "../../../shared/service/log.ts";
import {
  callRoute,
  evalService,
  evaluateBody,
  evaluateRequestOf,
  evaluateWith,
  startAsync,
  THREE_TURNS,
  TWO_TURNS,
} from "../../fakes/eval_service.ts";
import { readEvents } from "../../fakes/events.ts";
import { gatedTarget } from "../../fakes/gated_target.ts";
import { memoryStore } from "../../fakes/memory_store.ts";
import { until } from "../../fakes/until.ts";

const STREAM = { accept: "text/event-stream" };

Deno.test("an answer has the run's id, and the run's address in Location", async () => {
  const { service, store } = evalService();
  const response = await service(evaluateRequestOf(evaluateBody()));
  const { run_id } = await response.json();
  assertEquals(response.headers.get("location"), `/runs/${run_id}`);
  assertEquals((await store.getRun(run_id))?.status, "completed");
});

Deno.test("a run is stored before its first call, and a turn before the second turn after it is asked", async () => {
  const store = memoryStore();
  const seen: { status: string | undefined; done: number }[] = [];
  const { service } = evalService(() => "", {
    store,
    target: {
      async ask() {
        const [run] = (await store.listRuns({ limit: 1 })).runs;
        seen.push({ status: run?.status, done: (await store.tally(run!.id)).done });
        return { content: "fine", usage: null };
      },
    },
  });
  const interactions = ["1", "2", "3", "4"].map((id) => ({ id, user_message: id }));
  await evaluateWith(service, evaluateBody({ test_batch: { id: "s", interactions } }));
  assertEquals(seen.map(({ status }) => status), Array(4).fill("running"));
  for (const [asked, { done }] of seen.entries()) {
    assert(done >= asked - 1, `turn ${asked} was asked with only ${done} stored`);
  }
});

Deno.test("respond-async answers 202 at once, and the run continues without a client", async () => {
  const gate = gatedTarget();
  const { service, runs } = evalService(() => "", gate);
  const response = await service(
    evaluateRequestOf(evaluateBody(), { prefer: "wait=5, respond-async" }),
  );
  const body = await response.json();
  assertEquals(response.status, 202);
  assertEquals(body, { run_id: body.run_id, status: "running" });
  assertEquals(response.headers.get("location"), `/runs/${body.run_id}`);
  assertEquals(response.headers.get("preference-applied"), "respond-async");
  const active = runs.active(body.run_id);
  gate.open();
  assertEquals((await active?.ended)?.status, "completed");
});

Deno.test("a stream has progress and turn events, and ends with the same result as a plain request", async () => {
  const { service } = evalService((conversation) => `re: ${conversation.at(-1)?.content}`);
  const body = evaluateBody({ ...TWO_TURNS, attempts: 2 });
  const response = await service(evaluateRequestOf(body, STREAM));
  assertEquals(response.headers.get("content-type"), "text/event-stream");
  const events = await Array.fromAsync(readEvents(response));
  const named = (name: string) => events.filter(({ event }) => event === name);
  assertEquals(named("turn").length, 4);
  assertEquals(named("turn").map(({ id }) => id), ["1", "2", "3", "4"]);
  const turn = named("turn")[0]!.data as Record<string, unknown>;
  assertEquals(turn.scenario_id, "s1");
  assertEquals((turn.interaction as { agent_reply: string }).agent_reply, "re: one");
  assertEquals(named("progress").at(-1)?.data, {
    done: 4,
    failed: 0,
    missing: 0,
    total: 4,
    mean: null,
    eta_ms: 0,
  });
  assertEquals(events.at(-1)?.event, "result");
  const result = events.at(-1)?.data as Record<string, unknown>;
  const plain = await (await service(
    new Request(`http://127.0.0.1:8080/runs/${result.run_id}`),
  )).json();
  assertEquals(result, plain.result);
  const other = await evaluateWith(service, body) as unknown as Record<string, unknown>;
  assertEquals(withoutTimes(result), withoutTimes(other));
});

/** Two runs differ in their ids and times, and in nothing else. */
function withoutTimes(value: unknown): unknown {
  const hidden = ["run_id", "latency_ms", "execution_time_ms"];
  return JSON.parse(JSON.stringify(value, (key, item) => hidden.includes(key) ? 0 : item));
}

Deno.test("events are sent as turns are stored, not all at the end", async () => {
  const gate = gatedTarget();
  const { service } = evalService(() => "", gate);
  const response = await service(evaluateRequestOf(evaluateBody(TWO_TURNS), STREAM));
  const seen: string[] = [];
  for await (const { event } of readEvents(response)) {
    seen.push(event);
    if (seen.length === 1) gate.answer(0);
    if (event === "turn") await gate.reached(2).then(() => gate.answer(1));
  }
  assertEquals(seen, ["progress", "turn", "progress", "turn", "progress", "result"]);
});

for (const [what, headers] of [["plain request", {}], ["stream", STREAM]] as const) {
  Deno.test(`a run goes on after its client has left a ${what}, and a cancel ends it`, async () => {
    const gate = gatedTarget();
    const { service, store } = evalService(() => "", gate);
    const { signal, leave } = leavingClient();
    const answer = service(
      new Request(evaluateRequestOf(evaluateBody(TWO_TURNS), headers), { signal }),
    );
    await gate.reached(1);
    const { id } = (await store.listRuns({ limit: 1 })).runs[0]!;
    leave();
    const { status } = await answer;
    assertEquals(status, what === "stream" ? 200 : 499);
    gate.answer(0);
    await gate.reached(2);
    assertEquals([gate.aborted, (await store.getRecord(id))?.status], [[], "running"]);
    await callRoute(service, `POST /runs/${id}/cancel`);
    assertEquals(gate.aborted, ["two"]);
    const stored = await store.getRecord(id);
    assertEquals([stored?.status, stored?.detail], ["cancelled", "cancelled by a caller"]);
    assertEquals((await store.tally(id)).done, 1);
  });
}

function leavingClient() {
  const client = new AbortController();
  return { signal: client.signal, leave: () => client.abort() };
}

Deno.test("a run that does not fit on the disk is a 507, and is not stored", async () => {
  const full = new AppError(507, "storage_full", "cannot store the run: the disk is full");
  const store = memoryStore();
  const { service, asked } = evalService(() => "fine", {
    store: { ...store, createRun: () => Promise.reject(full) },
  });
  const response = await service(evaluateRequestOf(evaluateBody()));
  assertEquals([response.status, (await response.json()).code], [507, "storage_full"]);
  assertEquals(asked.length, 0);
});

for (const code of ["storage_full", "storage_busy"] as const) {
  Deno.test(`${code} during a run is reported, and the run resumes by itself when the storage works again`, async () => {
    const fault = new AppError(507, code, "cannot store the run: no room");
    const store = memoryStore();
    const gate = gatedTarget();
    gate.open();
    let isFaulty = false;
    const completed = Promise.withResolvers<void>();
    const { service, runs } = evalService(() => "", {
      ...gate,
      store: {
        ...store,
        async recordTurn(id, turn) {
          if (isFaulty) throw fault;
          const recorded = await store.recordTurn(id, turn);
          isFaulty = turn.turn === 0; // until the test ends the fault
          return recorded;
        },
        async setStatus(id, change) {
          const status = await store.setStatus(id, change);
          if (change.status === "completed") completed.resolve();
          return status;
        },
        getRun: (id) => isFaulty ? Promise.reject(fault) : store.getRun(id),
      },
    });
    const response = await service(evaluateRequestOf(evaluateBody(TWO_TURNS)));
    assertEquals([response.status, (await response.json()).code], [507, code]);
    const [id] = await store.unfinishedRuns();
    const { runs: [shown] } = await (await callRoute(service, "GET /runs")).json();
    assertEquals([shown.status, shown.progress.done], ["interrupted", 1]);
    assertEquals(shown.detail, "cannot store the run: no room");
    isFaulty = false;
    await completed.promise;
    assertEquals((await store.tally(id!)).done, 2);
    assertEquals(gate.asked, ["one", "two"], "a turn that was paid for was asked again");
    await runs.stop(); // it is being summarised
  });
}

Deno.test("a fault of the service is a 500 without its message, and the run has failed", async () => {
  const { service, store } = evalService(() => {
    throw new TypeError("a secret");
  });
  const response = await service(evaluateRequestOf(evaluateBody()));
  assertEquals(response.status, 500);
  assert(!(await response.text()).includes("secret"));
  assertEquals((await store.listRuns({ limit: 1 })).runs[0]?.status, "failed");
});

Deno.test("a batch without a name is called after its scenario, or if it has several after its content", async () => {
  const { service } = evalService();
  const nameOf = async (...ids: string[]) => {
    const test_batch = ids.map((id) => ({ id, interactions: [{ id: "i", user_message: "?" }] }));
    return (await evaluateWith(service, evaluateBody({ test_batch }))).test_name;
  };
  assertEquals(await nameOf("greeting"), "greeting");
  const name = await nameOf("greeting", "refund");
  assertMatch(name, /^batch-[0-9a-f]{8}$/);
  assertEquals(await nameOf("greeting", "refund"), name);
  assert(await nameOf("greeting", "return") !== name);
});

Deno.test("proxies are told to pass the events of a run on at once and uncompressed", async () => {
  const { service } = evalService(() => "yes");
  const id = await startAsync(service, { test_batch: THREE_TURNS });
  const { headers, body } = await service(new Request(`http://127.0.0.1:8080/runs/${id}/events`));
  assertEquals(headers.get("x-accel-buffering"), "no"); // nginx
  assertEquals(headers.get("cache-control"), "no-cache, no-transform");
  await new Response(body).text();
});

interface Client {
  reader: ReadableStreamDefaultReader<Uint8Array>;
  connection: AbortController;
}

const cancel = ({ reader }: Client) => reader.cancel();
const disconnect = ({ connection }: Client) => connection.abort();

/** A client that waits for the next event has a pending read. */
async function waitFirst({ reader }: Client): Promise<void> {
  reader.read().catch(() => {});
  await moment();
}

const WAYS: Record<string, (client: Client) => unknown> = {
  "cancels between two events": cancel,
  "disconnects between two events": disconnect,
  "cancels while it waits for an event": (client) => waitFirst(client).then(() => cancel(client)),
  "disconnects while it waits for an event": (client) =>
    waitFirst(client).then(() => disconnect(client)),
};

const moment = () => new Promise((resolve) => setTimeout(resolve, 5));

for (const [way, leave] of Object.entries(WAYS)) {
  Deno.test(`the turns of a run are deleted with it after a client ${way}`, async () => {
    const gate = gatedTarget();
    const { service, store } = evalService(() => "", gate);
    const id = await startAsync(service, { test_batch: THREE_TURNS });
    await gate.reached(1);
    gate.answer(0);
    await gate.reached(2);
    const connection = new AbortController();
    const { body } = await service(
      new Request(`http://127.0.0.1:8080/runs/${id}/events`, { signal: connection.signal }),
    );
    const reader = body!.getReader();
    for (let event = 0; event < 3; event++) await reader.read(); // progress, turn, progress
    await leave({ reader, connection });
    await callRoute(service, `POST /runs/${id}/cancel`);
    assertEquals((await callRoute(service, `DELETE /runs/${id}`)).status, 204);
    await until(async () => (await store.tally(id)).done === 0);
  });

  Deno.test(`a stream releases what it holds after a client ${way}`, async () => {
    const connection = new AbortController();
    let isHeld = false;
    async function* write(left: AbortSignal): AsyncGenerator<Uint8Array<ArrayBuffer>> {
      using held = new DisposableStack();
      held.defer(() => isHeld = false);
      isHeld = true;
      yield new Uint8Array(1);
      await new Promise((resolve) => left.addEventListener("abort", resolve));
      yield new Uint8Array(1); // too late for the client
    }
    const reader = createEventResponse(connection.signal, write).response.body!.getReader();
    await reader.read();
    assertEquals(isHeld, true);
    await leave({ reader, connection });
    await until(() => !isHeld);
  });
}

function collect() {
  const lines: Record<string, unknown>[] = [];
  const write = (line: string) => void lines.push(JSON.parse(line));
  const requests = () => lines.filter(({ message }) => message === "request");
  return { log: createLogger({ level: "info", format: "json", write }), requests };
}

const untilNext = () => new Promise((resolve) => setTimeout(resolve, 1));

Deno.test("a streamed evaluation writes one log line, at its end, with its outcome and tokens", async () => {
  const { log, requests } = collect();
  const gate = gatedTarget();
  const { service, runs } = evalService(() => "", { ...gate, log });
  const response = await service(evaluateRequestOf(evaluateBody(), STREAM));
  const reader = response.body!.getReader();
  await reader.read();
  assertEquals(requests(), []);
  gate.open();
  while (!(await reader.read()).done);
  await untilNext();
  const [{ route, status, model, outcome, input_tokens }, ...more] = requests() as [
    Record<string, unknown>,
  ];
  assertEquals([route, status, model, outcome, more], [
    "POST /evaluate",
    200,
    "m",
    "completed",
    [],
  ]);
  assertEquals(typeof input_tokens, "number");
  await runs.stop();
});

Deno.test("the log line of an event stream says whether the client left or stayed to the end", async () => {
  const { log, requests } = collect();
  const gate = gatedTarget();
  const { service } = evalService(() => "", { ...gate, log });
  const accepted = await service(evaluateRequestOf(evaluateBody(), { prefer: "respond-async" }));
  const { run_id } = await accepted.json();
  const events = () => service(new Request(`http://127.0.0.1:8080/runs/${run_id}/events`));
  const leaving = (await events()).body!.getReader();
  await leaving.read();
  const staying = (await events()).text();
  assertEquals(requests().length, 1);
  await leaving.cancel();
  await untilNext();
  assertEquals(requests().map(({ outcome }) => outcome), [undefined, "client left"]);
  gate.open();
  await staying;
  await untilNext();
  const { route, outcome } = requests().at(-1)!;
  assertEquals([requests().length, route, outcome], [3, "GET /runs/:id/events", undefined]);
});

Deno.test("events that cannot be read to their end are logged as a failure of the service", async () => {
  const { log, requests } = collect();
  const store = memoryStore();
  const { service } = evalService(() => "fine", { store, log });
  const { run_id } = await (await service(evaluateRequestOf(evaluateBody()))).json();
  store.turnsAfter = () => Promise.reject(new TypeError("the words of the database"));
  const response = await service(new Request(`http://127.0.0.1:8080/runs/${run_id}/events`));
  await response.text().catch(() => {});
  await untilNext();
  const { level, error } = requests().at(-1)!;
  assertEquals([level, String(error).split(".ts")[0]], [
    "error",
    "TypeError at evaluate_route_test",
  ]);
});

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

Deno.test("a client that comes back with its key gets the result, and nothing is asked twice", async () => {
  const gate = gatedTarget();
  const { service, store } = evalService(() => "", gate);
  const { signal, leave } = leavingClient();
  const request = () => evaluateRequestOf(evaluateBody(TWO_TURNS), { "idempotency-key": "mine" });
  const lost = service(new Request(request(), { signal }));
  await gate.reached(1);
  leave();
  await lost;
  const back = service(request());
  gate.open();
  const answer = await (await back).json();
  assertEquals(answer.run_id, (await store.listRuns({ limit: 1 })).runs[0]!.id);
  assertEquals(answer.results.scenarios[0].attempts[0].interactions.length, 2);
  assertEquals(gate.asked, ["one", "two"]);
});

Deno.test("an interrupted run continues if its request is sent again with its key", async () => {
  const { service, store, asked } = evalService();
  const request = () => evaluateRequestOf(evaluateBody(), { "idempotency-key": "mine" });
  const { run_id: id } = await (await service(request())).json();
  await store.setStatus(id, { status: "interrupted" });
  const again = await service(request());
  assertEquals([again.status, (await again.json()).run_id], [200, id]);
  assertEquals([asked.length, (await store.getRecord(id))?.status], [1, "completed"]);
});

Deno.test("a key of a finished run answers with its result even if the limit of runs is reached", async () => {
  const gate = gatedTarget();
  const { service, runs } = evalService(() => "", {
    ...gate,
    environment: { MAX_RUNS: "1" },
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

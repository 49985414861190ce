import { assert, assertEquals, assertMatch } from "@std/assert";
import { AppError } from "../../../shared/errors.ts";
import {
  evalService,
  evaluateBody,
  evaluateRequestOf,
  evaluateWith,
  TWO_TURNS,
} from "../../fakes/eval_service.ts";
import { readEvents } from "../../fakes/events.ts";
import { gatedTarget } from "../../fakes/gated_target.ts";
import { memoryStore } from "../../fakes/memory_store.ts";

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

Deno.test("a client that leaves a plain request cancels its run, and finished turns stay stored", async () => {
  const gate = gatedTarget();
  const { service, store, runs } = evalService(() => "", gate);
  const client = new AbortController();
  const answer = service(
    new Request(evaluateRequestOf(evaluateBody(TWO_TURNS)), { signal: client.signal }),
  );
  await gate.reached(1);
  const [run] = (await store.listRuns({ limit: 1 })).runs;
  const active = runs.active(run!.id)!;
  gate.answer(0);
  await gate.reached(2);
  client.abort();
  assertEquals((await answer).status, 499);
  assertEquals((await active.ended).status, "cancelled");
  assertEquals(gate.aborted, ["two"]);
  const stored = await store.getRun(run!.id);
  assertEquals([stored?.status, stored?.detail], ["cancelled", "the client left"]);
  assertEquals((await Array.fromAsync(store.turns(run!.id))).length, 1);
});

Deno.test("a client that leaves its stream cancels the run, and finished turns stay stored", async () => {
  const gate = gatedTarget();
  const { service, store, runs } = evalService(() => "", gate);
  const response = await service(evaluateRequestOf(evaluateBody(TWO_TURNS), STREAM));
  const id = response.headers.get("location")!.split("/").at(-1)!;
  const active = runs.active(id)!;
  gate.answer(0);
  for await (const { event } of readEvents(response)) if (event === "turn") break;
  assertEquals((await active.ended).status, "cancelled");
  assertEquals((await store.tally(id)).done, 1);
});

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
    const { service } = evalService(() => "", {
      ...gate,
      store: {
        ...store,
        async recordTurn(id, turn) {
          if (isFaulty) throw fault;
          const recorded = await store.recordTurn(id, turn);
          isFaulty = turn.turn === 0; // and stays so until the test says otherwise
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
    const { runs: [shown] } = await (await service(new Request("http://127.0.0.1:8080/runs")))
      .json();
    assertEquals([shown.status, shown.progress.done], ["interrupted", 1]);
    assertEquals(shown.detail, "cannot store the run: no room");
    isFaulty = false;
    await completed.promise;
    assertEquals((await store.tally(id!)).done, 2);
    assertEquals(gate.asked, ["one", "two"], "a turn that was paid for was asked again");
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

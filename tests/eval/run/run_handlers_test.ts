import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import type { Target } from "../../../eval/ask/target.ts";
import { exportFormats } from "../../../eval/report/export_formats.ts";
import { openStore } from "../../../eval/store/open_store.ts";
import type { RunStore } from "../../../eval/store/store.ts";
import { providerError } from "../../fakes/eval_ports.ts";
import {
  callRoute,
  evalService,
  evaluateBody,
  evaluateRequestOf,
  evaluateWith,
  startAsync,
  THREE_TURNS,
} from "../../fakes/eval_service.ts";
import { readEvents } from "../../fakes/events.ts";
import { gatedTarget } from "../../fakes/gated_target.ts";
import { memoryStore } from "../../fakes/memory_store.ts";
import { fakeJudge, scoringPorts } from "../../fakes/scoring_ports.ts";
import { evaluateRequest, storedTurn } from "../../fakes/stored_runs.ts";
import { until } from "../../fakes/until.ts";

Deno.test("runs are listed newest first, in pages, and filtered", async () => {
  const { service } = evalService();
  const ids: string[] = [];
  for (const test_name of ["a", "b", "a"]) {
    ids.unshift((await evaluateWith(service, evaluateBody({ test_name }))).run_id);
  }
  const list = async (query: string) =>
    await (await callRoute(service, `GET /runs${query}`)).json();
  const idsOf = (page: { runs: { run_id: string }[] }) => page.runs.map(({ run_id }) => run_id);
  const first = await list("?limit=2");
  assertEquals(idsOf(first), ids.slice(0, 2));
  const second = await list(`?limit=2&cursor=${first.next_cursor}`);
  assertEquals(idsOf(second), ids.slice(2));
  assertEquals(second.next_cursor, null);
  assertEquals(idsOf(await list("?test_name=a")), [ids[0], ids[2]]);
  assertEquals(idsOf(await list("?model_id=m&status=completed")), ids);
  assertEquals(idsOf(await list("?status=running")), []);
});

Deno.test("the query of an endpoint is used and stored, and one that is named like a secret is refused", async () => {
  const connected: string[] = [];
  const { service, asked } = evalService(() => "fine", {
    connect: ({ endpoint }) => void connected.push(endpoint),
  });
  const endpoint = "http://127.0.0.1:9/v1?api-version=2026-01-01";
  const { run_id } = await evaluateWith(service, evaluateBody({ endpoint }));
  const request = await (await callRoute(service, `GET /runs/${run_id}/request`)).json();
  await evaluateWith(service, request);
  assertEquals(connected, [endpoint, endpoint]);
  for (const name of ["key", "api_key", "access_token", "sig", "code", "X-Amz-Signature"]) {
    const address = `${endpoint}&${name}=s3cr3t`;
    const refused = await service(evaluateRequestOf(evaluateBody({ endpoint: address })));
    const { errors, detail } = await refused.json();
    assertEquals([refused.status, errors[0].path], [400, "endpoint"], name);
    assertStringIncludes(errors[0].message, "put it into EVAL_CREDENTIALS");
    assertEquals(JSON.stringify([errors, detail]).includes("s3cr3t"), false);
  }
  assertEquals(asked.length, 2);
});

Deno.test("the request of a run can be sent again", async () => {
  const { service } = evalService();
  const body = {
    ...evaluateBody({ test_name: "again", attempts: 2, rubric: "Be strict." }),
    parameters: { temperature: 0 },
  };
  const { run_id } = await evaluateWith(service, body);
  const request = await (await callRoute(service, `GET /runs/${run_id}/request`)).json();
  assertEquals([request.test_name, request.attempts, request.rubric], ["again", 2, "Be strict."]);
  assertEquals([request.parameters, request.scored_by], [{ temperature: 0 }, undefined]);
  const again = await evaluateWith(service, request);
  assertEquals(again.results.scenarios.length, request.test_batch.length);
});

Deno.test("an invalid list parameter is refused by its name", async () => {
  const { service } = evalService();
  for (const query of ["status=done", "limit=0", "limit=many"]) {
    const response = await callRoute(service, `GET /runs?${query}`);
    const problem = await response.json();
    assertEquals([response.status, problem.code], [400, "invalid_request"]);
    assertEquals(problem.errors[0].path, query.split("=")[0]);
  }
});

Deno.test("a running run shows its progress, a finished one its result", async () => {
  const gate = gatedTarget();
  const { service, runs } = evalService(() => "", gate);
  const id = await startAsync(service, { test_batch: THREE_TURNS });
  await gate.reached(1);
  gate.answer(0);
  await gate.reached(2);
  const active = runs.active(id)!;
  await until(() => active.progress().done >= 1);
  const before = await (await callRoute(service, `GET /runs/${id}`)).json();
  assertEquals([before.status, before.progress.done, before.progress.total], ["running", 1, 3]);
  assertEquals("result" in before, false);
  gate.open();
  await active.ended;
  const after = await (await callRoute(service, `GET /runs/${id}`)).json();
  assertEquals(after.status, "completed");
  assertEquals(after.result.run_id, id);
  assertEquals(after.result.message, "Evaluation completed successfully");
  assertEquals(after.progress, {
    done: 3,
    failed: 0,
    missing: 0,
    total: 3,
    mean: null,
    eta_ms: 0,
  });
});

Deno.test("a run that does not exist is a 404 on every route", async () => {
  const { service } = evalService();
  for (
    const route of [
      "GET /runs/x",
      "GET /runs/x/events",
      "POST /runs/x/cancel",
      "POST /runs/x/retry",
      "DELETE /runs/x",
    ]
  ) {
    const response = await callRoute(service, route);
    assertEquals([response.status, (await response.json()).code], [404, "not_found"]);
  }
});

Deno.test("a client that reconnects gets the events after the last one it received", async () => {
  const gate = gatedTarget();
  const { service } = evalService(() => "", gate);
  const id = await startAsync(service, { test_batch: THREE_TURNS });
  const seen: string[] = [];
  let last = "";
  await gate.reached(1);
  gate.answer(0);
  for await (const event of readEvents(await callRoute(service, `GET /runs/${id}/events`))) {
    if (event.event !== "turn") continue;
    seen.push((event.data as { interaction: { id: string } }).interaction.id);
    last = event.id!;
    break; // the connection is lost
  }
  gate.open();
  const again = await callRoute(service, `GET /runs/${id}/events`, { "last-event-id": last });
  for await (const event of readEvents(again)) {
    if (event.event === "turn") {
      seen.push((event.data as { interaction: { id: string } }).interaction.id);
    }
    last = event.id ?? last;
  }
  assertEquals(seen, ["one", "two", "three"]);
  const over = await callRoute(service, `GET /runs/${id}/events`, { "last-event-id": last });
  assertEquals(over.status, 204); // an EventSource stops coming back
});

Deno.test("all events of a finished run are sent, over many pages", async () => {
  const { service } = evalService();
  const { run_id } = await evaluateWith(service, evaluateBody({ attempts: 350 }));
  const events = await Array.fromAsync(
    readEvents(await callRoute(service, `GET /runs/${run_id}/events`)),
  );
  assertEquals(events.filter(({ event }) => event === "turn").length, 350);
  assertEquals(events.at(-1)?.event, "result");
});

Deno.test("a client that leaves the events of a run does not cancel it", async () => {
  const gate = gatedTarget();
  const { service, runs } = evalService(() => "", gate);
  const id = await startAsync(service);
  const { ended } = runs.active(id)!;
  for await (const _ of readEvents(await callRoute(service, `GET /runs/${id}/events`))) break;
  gate.open();
  assertEquals((await ended).status, "completed");
});

Deno.test("a cancelled run asks nothing more, keeps its turns and ends its event streams", async () => {
  const gate = gatedTarget();
  const { service, store } = evalService(() => "", gate);
  const id = await startAsync(service, { test_batch: THREE_TURNS });
  await gate.reached(1);
  gate.answer(0);
  await gate.reached(2);
  const watched = Array.fromAsync(readEvents(await callRoute(service, `GET /runs/${id}/events`)));
  const response = await callRoute(service, `POST /runs/${id}/cancel`);
  assertEquals(await response.json(), { run_id: id, status: "cancelled" });
  assertEquals(gate.aborted, ["two"]);
  assertEquals((await store.tally(id)).done, 1);
  assertEquals((await watched).at(-1), {
    event: "ended",
    id: "end",
    data: { run_id: id, status: "cancelled", detail: "cancelled by a caller" },
  });
  const again = await callRoute(service, `POST /runs/${id}/cancel`);
  assertEquals(again.status, 200);
  await again.body?.cancel();
});

Deno.test("a finished run cannot be cancelled", async () => {
  const { service } = evalService();
  const { run_id } = await evaluateWith(service, evaluateBody());
  const response = await callRoute(service, `POST /runs/${run_id}/cancel`);
  assertEquals([response.status, (await response.json()).code], [409, "conflict"]);
});

Deno.test("a run can be deleted only after it has ended", async () => {
  const gate = gatedTarget();
  const { service, runs } = evalService(() => "", gate);
  const id = await startAsync(service);
  const { ended } = runs.active(id)!;
  const early = await callRoute(service, `DELETE /runs/${id}`);
  assertEquals([early.status, (await early.json()).code], [409, "conflict"]);
  gate.open();
  await ended;
  assertEquals((await callRoute(service, `DELETE /runs/${id}`)).status, 204);
  const gone = await callRoute(service, `GET /runs/${id}`);
  assertEquals(gone.status, 404);
  await gone.body?.cancel();
});

Deno.test("a run is cancelled and deleted without reading its request", async () => {
  const store = memoryStore();
  const { id } = await store.createRun({ request: evaluateRequest(), testName: "t" });
  const { service } = evalService(() => "", {
    store: { ...store, getRun: () => Promise.reject(new Error("the request was read")) },
  });
  assertEquals((await callRoute(service, `POST /runs/${id}/cancel`)).status, 200);
  assertEquals((await callRoute(service, `DELETE /runs/${id}`)).status, 204);
});

Deno.test("ids of more than 256 characters are refused, and the error names the field", async () => {
  const { service, asked } = evalService();
  const id = "x".repeat(257);
  const turn = { id: "1", user_message: "Hello" };
  const cases: [string, Record<string, unknown>][] = [
    ["test_batch.id", { test_batch: { id, interactions: [turn] } }],
    ["test_batch.interactions.0.id", { test_batch: { id: "s", interactions: [{ ...turn, id }] } }],
    ["test_batch.1.id", { test_batch: ["s", id].map((id) => ({ id, interactions: [turn] })) }],
    ["model_id", { model_id: id }],
    ["endpoint", { endpoint: `http://127.0.0.1:9/${"x".repeat(2048)}` }],
  ];
  for (const [path, fields] of cases) {
    const response = await service(evaluateRequestOf(evaluateBody(fields)));
    const problem = await response.json();
    assertEquals([response.status, problem.errors?.[0]?.path], [400, path]);
  }
  assertEquals(asked.length, 0);
});

Deno.test("a result of another database is stored once, and one that no run can have is refused", async () => {
  const { service } = evalService();
  const answer = await evaluateWith(service, evaluateBody({ attempts: 2 }));
  const { service: other } = evalService();
  const store = async (change: (attempts: { attempt_id: number }[]) => unknown) => {
    const [scenario] = answer.results.scenarios;
    const scenarios = [{ ...scenario, attempts: change(scenario!.attempts) }];
    const body = JSON.stringify({ ...answer, results: { scenarios } });
    const headers = { "content-type": "application/json" };
    const url = "http://127.0.0.1:8080/runs";
    const response = await other(new Request(url, { method: "POST", headers, body }));
    return [response.status, (await response.json()).errors?.[0].path];
  };
  const path = "results.scenarios.0.attempts";
  assertEquals(await store(([one]) => [one, one]), [400, path], "the same turn twice");
  assertEquals(await store(([one, two]) => [one, { ...two, attempt_id: 2 ** 40 }]), [400, path]);
  assertEquals(await store(() => []), [400, path]);
  const empty = await store(([one]) => [{ ...one, interactions: [] }]);
  assertEquals(empty, [400, `${path}.0.interactions`]);
  assertEquals(await store((attempts) => attempts), [201, undefined]);
  assertEquals(await store((attempts) => attempts), [200, undefined]);
});

Deno.test("a list cuts a long test name, the result has all of it", async () => {
  const { service } = evalService();
  const test_name = "name ".repeat(1000);
  assertEquals((await evaluateWith(service, evaluateBody({ test_name }))).test_name, test_name);
  const { runs: [run] } = await (await callRoute(service, "GET /runs")).json();
  assertEquals(run.test_name, `${test_name.slice(0, 1000)}…`);
});

Deno.test("a retry asks again from the first failed turn, so that each reply fits its history", async () => {
  let calls = 0;
  /** Replies with the messages it received, and fails the second call. */
  const { service, asked, runs } = evalService((conversation) => {
    if (++calls === 2) throw providerError(500);
    const said = conversation.filter(({ role }) => role === "user").map(({ content }) => content);
    return `heard ${said.join(" ")}`;
  });
  const parent = await evaluateWith(service, evaluateBody({ test_batch: THREE_TURNS }));
  assertStringIncludes(parent.message, "1 of 3");
  const response = await callRoute(service, `POST /runs/${parent.run_id}/retry`);
  assertEquals(response.status, 202);
  const { run_id, parent_id } = await response.json();
  assertEquals(parent_id, parent.run_id);
  assertEquals(response.headers.get("location"), `/runs/${run_id}`);
  await runs.active(run_id)?.ended;
  assertEquals(asked.slice(3).map((turns) => turns.map(({ content }) => content)), [
    ["one", "heard one", "two"],
    ["one", "heard one", "two", "heard one two", "three"],
  ]);
  const child = await (await callRoute(service, `GET /runs/${run_id}`)).json();
  assertEquals([child.status, child.parent_id], ["completed", parent.run_id]);
  assertEquals(
    child.result.results.scenarios[0].attempts[0].interactions.map(
      ({ agent_reply }: { agent_reply: string }) => agent_reply,
    ),
    ["heard one", "heard one two", "heard one two three"],
  );
});

Deno.test("a retry scores turns with missing scores again, without a further call", async () => {
  let isDown = true;
  const { judge } = fakeJudge(() => {
    if (isDown) throw providerError(500);
    return JSON.stringify({ reason: "good", grade: 10 });
  });
  const { service, asked, runs } = evalService(() => "fine", { scoring: scoringPorts({ judge }) });
  const interactions = THREE_TURNS.interactions.map((turn) => ({
    ...turn,
    reference_reply: "fine",
  }));
  const parent = await evaluateWith(
    service,
    evaluateBody({ test_batch: { ...THREE_TURNS, interactions } }),
  );
  const overallOf = ({ results }: typeof parent) =>
    results.scenarios[0]!.attempts[0]!.interactions.map(({ scores }) => scores.overall);
  assertEquals(overallOf(parent), [null, null, null]);
  isDown = false;
  const response = await callRoute(service, `POST /runs/${parent.run_id}/retry`);
  assertEquals(response.status, 202);
  const { run_id } = await response.json();
  await runs.active(run_id)?.ended;
  const child = await (await callRoute(service, `GET /runs/${run_id}`)).json();
  assertEquals([child.status, overallOf(child.result)], ["completed", [1, 1, 1]]);
  assertEquals(asked.length, 3);
});

Deno.test("a run that is running, or has no failed turn, cannot be retried", async () => {
  const gate = gatedTarget();
  const { service, runs } = evalService(() => "", gate);
  const id = await startAsync(service);
  const { ended } = runs.active(id)!;
  const running = await callRoute(service, `POST /runs/${id}/retry`);
  assertEquals([running.status, (await running.json()).code], [409, "conflict"]);
  gate.open();
  await ended;
  const whole = await callRoute(service, `POST /runs/${id}/retry`);
  assertEquals([whole.status, (await whole.json()).code], [409, "conflict"]);
});

Deno.test("a repeated retry with the same key is the same run, also while it is running", async () => {
  const gate = gatedTarget();
  let isDown = true;
  const target: Target = {
    ask(conversation, signal) {
      if (isDown) return Promise.reject(providerError(500));
      return gate.target.ask(conversation, signal);
    },
  };
  const { service, runs, store } = evalService(() => "", { target });
  const parent = await evaluateWith(service, evaluateBody());
  isDown = false;
  const retry = async (key: string, id = parent.run_id) => {
    const response = await callRoute(service, `POST /runs/${id}/retry`, { "idempotency-key": key });
    return { status: response.status, body: await response.json() };
  };
  const [first, second] = await Promise.all([retry("k"), retry("k")]);
  assertEquals([first.status, second.status], [202, 202]);
  assertEquals(second.body.run_id, first.body.run_id);
  gate.open();
  await runs.active(first.body.run_id)?.ended;
  assertEquals(await retry("k"), {
    status: 202,
    body: { run_id: first.body.run_id, parent_id: parent.run_id, status: "completed" },
  });
  assertEquals((await store.listRuns({ limit: 9 })).runs.length, 2);
  const { body: other } = await retry("other");
  assertEquals(other.run_id === first.body.run_id, false);
  assertEquals((await retry("k", first.body.run_id)).status, 422);
  await runs.active(other.run_id)?.ended;
});

/** Part of a result must never look like a complete one, on any route. */

const TURNS = 600;
const ROADS = (id: string) => [
  `/runs/${id}`,
  `/runs/${id}/events`,
  ...exportFormats.map(({ name }) => `/runs/${id}/export?format=${name}`),
];

async function withRun(
  test: (run: { store: RunStore; id: string; path: string }) => Promise<void>,
): Promise<void> {
  const folder = await Deno.makeTempDir();
  const path = `${folder}/eval.db`;
  const store = await openStore({ path });
  try {
    const request = evaluateRequest({ attempts: TURNS });
    const { id } = await store.createRun({ request, testName: "t" });
    await Promise.all(
      Array.from(
        { length: TURNS },
        (_, attempt) =>
          store.recordTurn(id, storedTurn([0, attempt, 0], { agent_reply: "x".repeat(2000) })),
      ),
    );
    await store.setStatus(id, { status: "completed", tally: await store.tally(id) });
    await test({ store, id, path });
  } finally {
    await store.close();
    await Deno.remove(folder, { recursive: true });
  }
}

const get = (service: (request: Request) => Promise<Response>, path: string) =>
  service(new Request(`http://127.0.0.1:8080${path}`));

Deno.test("the answer about a run that is deleted meanwhile is complete, or is cut off", () =>
  withRun(async ({ store, id }) => {
    const { service } = evalService(() => "", { store });
    const bodies = await Promise.all(
      ROADS(id).map(async (road) => {
        const response = await get(service, road);
        assertEquals(response.status, 200, road);
        const reader = response.body!.getReader();
        return { road, reader, first: await reader.read() };
      }),
    );
    assertEquals((await get(service, `/runs/${id}`)).status, 200);
    const deleted = await service(
      new Request(`http://127.0.0.1:8080/runs/${id}`, { method: "DELETE" }),
    );
    assertEquals(deleted.status, 204);
    assertEquals((await get(service, `/runs/${id}`)).status, 404);
    for (const { road, reader, first } of bodies) {
      let text = new TextDecoder().decode(first.value);
      const read = async () => {
        for (let next = await reader.read(); !next.done; next = await reader.read()) {
          text += new TextDecoder().decode(next.value);
        }
      };
      const fault = await read().then(() => undefined, (error: Error) => error);
      if (fault) { // cut off
        assertMatch(fault.message, /deleted|turns, but|no run has this id/, road);
        continue;
      }
      assert(!road.endsWith("/events"), "the events have an end");
      if (/markdown|format=text|junit-scenarios|ctrf/.test(road)) continue; // a line per run or scenario
      const attempts = text.match(/reply 0\.|x{2000}|<testcase /g)?.length ?? 0;
      assertEquals(attempts, TURNS, road);
    }
  }));

Deno.test("an incomplete run is cut off or refused on every route, never shown as complete", () =>
  withRun(async ({ store, id, path }) => {
    const other = new DatabaseSync(path);
    other.prepare("delete from turns where run_id = ? and attempt >= 400").run(id);
    other.close();
    const { service } = evalService(() => "", { store });
    for (const road of [...ROADS(id), `/compare?baseline=${id}&candidate=${id}`]) {
      const outcome = await get(service, road).then(
        async (response) => response.status === 200 ? await response.text() : response.status,
      ).catch((error: Error) => error.name);
      assert(outcome === "IncompleteRead" || outcome === 500, `${road}: ${outcome}`);
    }
  }));

import { assertEquals } from "@std/assert";
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
import { evaluateRequest } from "../../fakes/stored_runs.ts";
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

Deno.test("the query of an endpoint is used, but never shown", async () => {
  const connected: string[] = [];
  const { service } = evalService(() => "fine", {
    connect: ({ endpoint }) => void connected.push(endpoint),
  });
  const endpoint = "http://127.0.0.1:9/v1?key=s3cr3t";
  const { run_id } = await evaluateWith(service, evaluateBody({ endpoint }));
  assertEquals(connected, [endpoint]);
  const roads = ["", `/${run_id}`, `/${run_id}/events`, `/compare?baseline=${run_id}`];
  for (const format of ["json", "jsonl", "csv", "junit", "markdown", "html"]) {
    roads.push(`/${run_id}/export?format=${format}`);
  }
  for (const road of roads) {
    const query = road.startsWith("/compare") ? `&candidate=${run_id}` : "";
    const text = await (await callRoute(service, `GET /runs${road}${query}`)).text();
    assertEquals([road, text.includes("s3cr3t")], [road, false]);
  }
});

Deno.test("the request of a run can be sent again, without the endpoint's query", async () => {
  const { service } = evalService();
  const body = {
    ...evaluateBody({ test_name: "again", attempts: 2, rubric: "Be strict." }),
    endpoint: "http://127.0.0.1:9/v1?key=s3cr3t",
    parameters: { temperature: 0 },
  };
  const { run_id } = await evaluateWith(service, body);
  const request = await (await callRoute(service, `GET /runs/${run_id}/request`)).json();
  assertEquals(request.endpoint, "http://127.0.0.1:9/v1");
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

Deno.test("a list cuts a long test name, the result has all of it", async () => {
  const { service } = evalService();
  const test_name = "name ".repeat(1000);
  assertEquals((await evaluateWith(service, evaluateBody({ test_name }))).test_name, test_name);
  const { runs: [run] } = await (await callRoute(service, "GET /runs")).json();
  assertEquals(run.test_name, `${test_name.slice(0, 1000)}…`);
});

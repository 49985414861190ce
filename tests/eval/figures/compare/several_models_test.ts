import { assert, assertEquals, assertMatch } from "@std/assert";
import { type Comparison, createComparer } from "../../../../eval/figures/compare_stored.ts";
import type { RunSummary } from "../../../../eval/figures/run_summary.ts";
import { restingProgress, viewRun } from "../../../../eval/run/view.ts";
import type { RunRecord } from "../../../../eval/store/run_record.ts";
import { providerError } from "../../../fakes/eval_ports.ts";
import { evalService, evaluateRequestOf } from "../../../fakes/eval_service.ts";
import { readEvents } from "../../../fakes/events.ts";
import { gatedTarget } from "../../../fakes/gated_target.ts";
import {
  body,
  call,
  groupService,
  post,
  SCENARIOS,
  targetOf,
} from "../../../fakes/group_service.ts";
import { memoryStore } from "../../../fakes/memory_store.ts";
import { evaluateRequest } from "../../../fakes/stored_runs.ts";
import { until } from "../../../fakes/until.ts";

Deno.test("several models are one group: a table of scores with intervals, costs and verdicts", async () => {
  const { service, store } = groupService();
  const { response, status, answer } = await post(service, {
    model_ids: ["acme/a", "acme/bad", "acme/b"],
    test_name: "numbers",
  });
  const report = answer as Comparison;
  assertEquals(status, 200, JSON.stringify(answer));
  assertEquals(response.headers.get("location"), `/compare?group=${report.group_id}`);
  const [{ test_name, attempts }] = report.runs as [Comparison["runs"][0]];
  assertEquals(
    [report.message, report.status, test_name, attempts],
    ["Evaluation completed successfully", "completed", "numbers", 1],
  );
  assertEquals(report.runs.map(({ name, model_id }) => [name, model_id]), [
    ["acme/a", "acme/a"],
    ["acme/bad", "acme/bad"],
    ["acme/b", "acme/b"],
  ]);
  for (const { scores, status, run_id } of report.runs) {
    const { mean, ci95, n } = scores!.overall!;
    assertEquals([status, n], ["completed", SCENARIOS]);
    assert(ci95![0] <= mean! && mean! <= ci95![1]);
    assertEquals((await store.getRun(run_id))!.request.model_ids, undefined);
  }
  assertEquals(report.runs.map(({ cost }) => cost!.amount!.toFixed(3)), [
    "0.120",
    "0.012",
    "0.120",
  ]);
  assertEquals([report.cost!.amount!.toFixed(3), report.cost!.turns], ["0.252", 36]);
  assertEquals(
    report.pairs!.map(({ baseline, candidate, better }) => [baseline, candidate, better]),
    [
      ["acme/a", "acme/bad", "acme/a"],
      ["acme/a", "acme/b", null],
      ["acme/bad", "acme/b", "acme/b"],
    ],
  );
  assertEquals(report.best, ["acme/a", "acme/b"]);
  assertEquals([report.decided_by, report.tests, report.method], ["overall", 3, undefined]);
  const { p, ci95 } = report.pairs![0]!.scores.overall!;
  assert(p! < 0.05 && ci95![1] < 0);
});

Deno.test("the pairs are decided by the score that the caller names", async () => {
  const { service } = groupService();
  const { answer: { group_id } } = await post(service, { model_ids: ["acme/a", "acme/bad"] });
  const { answer } = await call(
    service,
    `GET /compare?group=${group_id}&decide_by=chrf&detail=full`,
  );
  assertEquals([answer.decided_by, answer.tests, answer.pairs[0].verdict], [
    "chrf",
    1,
    "regressed",
  ]);
  assertEquals(Object.keys(answer.pairs[0].scores)[0], "chrf");
  assertEquals(answer.method.correction, "none for the deciding score; Holm among the others");
  const unknown = await call(service, `GET /compare?group=${group_id}&decide_by=none`);
  assertEquals([unknown.status, unknown.answer.errors[0].path], [400, "decide_by"]);
  const without = await call(service, `GET /compare?group=${group_id}&pairs=false`);
  assertEquals([without.answer.pairs, without.answer.best], [null, null]);
});

Deno.test("targets have their own endpoints and names", async () => {
  const asked: string[] = [];
  const { service } = groupService({
    connect: ({ endpoint, model_id }) => asked.push(`${endpoint} ${model_id}`),
  });
  const { answer, status } = await post(service, {
    endpoint: undefined,
    targets: [
      { endpoint: "http://127.0.0.1:9/v1", model_id: "m", name: "before" },
      { endpoint: "http://127.0.0.1:10", model_id: "m" },
      { endpoint: "http://127.0.0.1:11", model_id: "other" },
    ],
  });
  assertEquals(status, 200, JSON.stringify(answer));
  assertEquals(answer.runs.map(({ name }: { name: string }) => name), [
    "before",
    "m at 127.0.0.1:10",
    "other",
  ]);
  assertEquals(asked, [
    "http://127.0.0.1:9/v1 m",
    "http://127.0.0.1:10 m",
    "http://127.0.0.1:11 other",
  ]);
});

const AT = "http://127.0.0.1:9";

const WRONG: [what: string, fields: Record<string, unknown>, path: string, message: RegExp][] = [
  ["no model", { model_ids: [] }, "model_ids", /at least|>=1/],
  ["an empty name", { model_ids: ["a", " "] }, "model_ids.1", /./],
  ["the same model twice", { model_ids: ["a", "b", "a"] }, "model_ids.2", /same as model_ids.0/],
  ["too many", { model_ids: Array.from({ length: 21 }, (_, i) => `m${i}`) }, "model_ids", /20/],
  ["a text", { model_ids: "a,b" }, "model_ids", /./],
  ["no endpoint", { model_ids: ["a"], endpoint: undefined }, "endpoint", /./],
  ["model_id and model_ids", { model_id: "a", model_ids: ["a"] }, "model_id", /together/],
  [
    "an endpoint beside targets",
    {
      targets: [{ endpoint: AT, model_id: "a" }],
    },
    "endpoint",
    /together/,
  ],
  [
    "both lists",
    {
      endpoint: undefined,
      model_ids: ["a"],
      targets: [{ endpoint: AT, model_id: "a" }],
    },
    "model_ids",
    /together/,
  ],
  ["no target", { endpoint: undefined, targets: [] }, "targets", /./],
  [
    "a target without an endpoint",
    {
      endpoint: undefined,
      targets: [{ endpoint: AT, model_id: "a" }, { model_id: "b" }],
    },
    "targets.1.endpoint",
    /./,
  ],
  [
    "a target without a model",
    {
      endpoint: undefined,
      targets: [{ endpoint: AT }],
    },
    "targets.0.model_id",
    /./,
  ],
  [
    "the same target twice",
    {
      endpoint: undefined,
      targets: [{ endpoint: AT, model_id: "a" }, { endpoint: AT, model_id: "a", name: "b" }],
    },
    "targets.1",
    /same as targets.0/,
  ],
  [
    "the same name twice",
    {
      endpoint: undefined,
      targets: [{ endpoint: AT, model_id: "a", name: "x" }, {
        endpoint: AT,
        model_id: "b",
        name: "x",
      }],
    },
    "targets.1.name",
    /"x"/,
  ],
  [
    "an unknown field of a target",
    {
      endpoint: undefined,
      targets: [{ endpoint: AT, model_id: "a", temperature: 1 }],
    },
    "targets.0",
    /./,
  ],
  ["a wrong batch", { model_ids: ["a", "b"], attempts: 0 }, "attempts", /./],
  [
    "an unknown dataset",
    {
      model_ids: ["a"],
      test_batch: undefined,
      dataset: "none",
    },
    "dataset",
    /none/,
  ],
];

Deno.test("a wrong list of models is a 400 that names its path, before any call", async (t) => {
  const { service, store, asked } = evalService();
  for (const [what, fields, path, message] of WRONG) {
    await t.step(what, async () => {
      const { status, answer } = await post(service, fields);
      assertEquals([status, answer.code], [400, "invalid_request"], JSON.stringify(answer));
      assertEquals(answer.errors[0].path, path);
      assertMatch(answer.errors[0].message, message);
    });
  }
  assertEquals([asked.length, (await store.listRuns({ limit: 1 })).runs.length], [0, 0]);
});

Deno.test("a group needs a place for each of its runs, and starts none without", async () => {
  const gate = gatedTarget();
  const { service, store } = evalService(() => "", {
    target: gate.target,
    environment: { MAX_RUNS: "3" },
  });
  const started = await post(service, { model_ids: ["a", "b"] }, { prefer: "respond-async" });
  const refused = await post(service, { model_ids: ["a", "b"] });
  assertEquals([started.status, refused.status], [202, 503]);
  assertMatch(refused.answer.detail, /2 more would exceed the limit of 3 \(MAX_RUNS\)/);
  assertEquals((await store.listRuns({ limit: 5 })).runs.length, 2);
  const tooMany = await post(service, { model_ids: ["a", "b", "c", "d"] });
  assertEquals([tooMany.status, tooMany.answer.errors[0].path], [400, "model_ids"]);
  gate.open();
  await until(async () => (await store.unfinishedRuns()).length === 0);
});

Deno.test("the same Idempotency-Key is answered with the same group, and another body is a 422", async () => {
  const { service } = groupService();
  const key = { "idempotency-key": "k" };
  const first = await post(service, { model_ids: ["a", "bad"] }, key);
  const again = await post(service, { model_ids: ["a", "bad"] }, key);
  assertEquals(again.answer, first.answer);
  const other = await post(service, { model_ids: ["a", "b"] }, key);
  assertEquals([other.status, other.answer.code], [422, "idempotency_key_reused"]);
  const one = await post(service, { model_id: "a" }, key);
  assertEquals(one.status, 422);
});

Deno.test("the runs of a group go on after its client has left, and the same key gives the report", async () => {
  const gate = gatedTarget();
  const { service, store } = evalService(() => "", { target: gate.target });
  const key = { "idempotency-key": "k" };
  const client = new AbortController();
  const wanted = body({ model_ids: ["a", "b"] });
  const lost = service(new Request(evaluateRequestOf(wanted, key), { signal: client.signal }));
  await gate.reached(2);
  client.abort();
  await lost;
  const { runs: [first] } = await store.listRuns({ limit: 1 });
  gate.open();
  const { answer, status } = await post(service, { model_ids: ["a", "b"] }, key);
  assertEquals([status, answer.group_id, answer.status], [200, first!.group!.id, "completed"]);
  assertEquals((await store.listRuns({ limit: 5 })).runs.length, 2);
});

Deno.test("a model whose endpoint fails is in the table and does not stop the others; its retry takes its place", async () => {
  let isBroken = true;
  const { service, runs } = groupService({
    targetOf: (request) => ({
      ask(conversation, signal) {
        if (request.model_id === "b" && isBroken) throw new Error("a fault of the service");
        return targetOf(request).ask(conversation, signal);
      },
    }),
  });
  const { answer, status } = await post(service, { model_ids: ["a", "b", "c"] });
  assertEquals([status, answer.status], [200, "failed"]);
  assertEquals(answer.message, "Evaluation failed: 2 of 3 models completed");
  assertEquals(answer.runs.map(({ status }: { status: string }) => status), [
    "completed",
    "failed",
    "completed",
  ]);
  assertEquals(answer.pairs.length, 1);
  isBroken = false;
  const retried = await call(service, `POST /runs/${answer.runs[1].run_id}/retry`);
  await runs.active(retried.answer.run_id)?.ended;
  const again = (await call(service, `GET /compare?group=${answer.group_id}`)).answer as Comparison;
  assertEquals([again.status, again.runs[1]!.run_id], ["completed", retried.answer.run_id]);
  assertEquals(again.pairs!.length, 3);
});

Deno.test("respond-async answers with the runs; they are shown while they run, and end and go one by one", async () => {
  const gate = gatedTarget();
  const { service } = evalService(() => "", { target: gate.target });
  const { response, status, answer } = await post(service, { model_ids: ["a", "b"] }, {
    prefer: "respond-async",
  });
  const { group_id: id } = answer;
  assertEquals([status, response.headers.get("location")], [202, `/compare?group=${id}`]);
  assertEquals(answer.runs.map(({ name, status }: Comparison["runs"][0]) => [name, status]), [
    ["a", "running"],
    ["b", "running"],
  ]);
  await gate.reached(2);
  const running = (await call(service, `GET /compare?group=${id}`)).answer;
  assertEquals(
    [running.status, running.pairs, running.runs[0].scores, running.progress.total],
    ["running", null, null, 24],
  );
  assertEquals((await call(service, `GET /compare/export?group=${id}`)).status, 409);
  const { answer: { runs } } = await call(service, `GET /runs?group=${id}`);
  assertEquals(runs.map(({ group_id, name }: Record<string, string>) => [group_id, name]), [
    [id, "b"],
    [id, "a"],
  ]);
  for (const { run_id } of runs) await call(service, `POST /runs/${run_id}/cancel`);
  assertEquals((await call(service, `GET /compare?group=${id}`)).answer.status, "cancelled");
  for (const { run_id } of runs) {
    assertEquals((await call(service, `DELETE /runs/${run_id}`)).status, 204);
  }
  assertEquals((await call(service, `GET /compare?group=${id}`)).status, 404);
});

Deno.test("any runs are compared, also one with itself, and named apart", async () => {
  const { service } = groupService();
  const { answer: { runs: [a, bad] } } = await post(service, { model_ids: ["a", "bad"] });
  const { answer: other } = await post(service, { model_id: "c" });
  const ids = [bad.run_id, a.run_id, other.run_id, a.run_id];
  const { answer, status } = await call(service, `GET /compare?runs=${ids}`);
  assertEquals(status, 200, JSON.stringify(answer));
  assertEquals(answer.runs.map(({ name }: { name: string }) => name), ["bad", "a", "c", "a (2)"]);
  assertEquals([answer.group_id, answer.pairs.length, answer.best], [undefined, 6, [
    "a",
    "c",
    "a (2)",
  ]]);
});

for (
  const query of ["", "runs=", "runs=a&group=b", "baseline=a", "baseline=a&candidate=b&runs=c"]
) {
  Deno.test(`runs are named in exactly one way: 400 for "${query}"`, async () => {
    const { service } = groupService();
    for (const path of ["/compare", "/compare/export"]) {
      const { status, answer } = await call(service, `GET ${path}?${query}`);
      assertEquals([status, answer.code], [400, "invalid_request"]);
    }
  });
}

Deno.test("as events: progress of each model, then the same report", async () => {
  const { service } = groupService();
  const response = await service(
    evaluateRequestOf(body({ model_ids: ["a", "bad"] }), { accept: "text/event-stream" }),
  );
  const events = await Array.fromAsync(readEvents(response));
  const last = events.at(-1)!;
  assertEquals([events[0]!.event, last.event, last.id], ["progress", "result", "end"]);
  const report = last.data as Comparison;
  const { answer } = await call(service, `GET /compare?group=${report.group_id}`);
  assertEquals(report, answer);
  const ask = (headers: Record<string, string>) =>
    service(
      new Request(`http://127.0.0.1:8080/compare?group=${report.group_id}`, {
        headers: { accept: "text/event-stream", ...headers },
      }),
    );
  const again = await ask({});
  assertEquals((await Array.fromAsync(readEvents(again))).at(-1)!.data, answer);
  const seen = await ask({ "last-event-id": "end" });
  assertEquals(seen.status, 204);
});

Deno.test("a retry of each run asks again what failed in it; costs count both times", async () => {
  let failing = ["b 3", "c 5", "c 6"];
  const { service, runs } = groupService({
    targetOf: (request) => ({
      ...targetOf(request),
      ask(conversation, signal) {
        const number = conversation.at(-1)!.content.replace("say ", "");
        if (failing.includes(`${request.model_id} ${number}`)) throw providerError(500);
        return targetOf(request).ask(conversation, signal);
      },
    }),
  });
  const { answer: first } = await post(service, { model_ids: ["a", "b", "c"] });
  assertEquals([first.status, first.progress.failed], ["completed", 3]);
  failing = [];
  const idsOf = ({ runs }: Comparison) => runs.map(({ run_id }) => run_id);
  const ids = idsOf(first);
  for (const index of [1, 2]) {
    const { answer } = await call(service, `POST /runs/${ids[index]}/retry`);
    ids[index] = answer.run_id;
    await runs.active(answer.run_id)?.ended;
  }
  const report = (await call(service, `GET /compare?group=${first.group_id}`)).answer as Comparison;
  assertEquals([report.status, report.progress.failed], ["completed", 0]);
  assertEquals(idsOf(report), ids);
  assertEquals(report.runs.map(({ cost }) => cost!.turns), [12, 12, 12]);
  assertEquals(report.runs.map(({ usage }) => usage!.input_tokens), [60, 60, 60]);
  assertEquals((await call(service, `GET /runs?group=${first.group_id}`)).answer.runs.length, 5);
});

Deno.test("the report of a running group names no best model if a run ends while it is made", async () => {
  const store = memoryStore();
  const request = evaluateRequest();
  const runs = ["A", "B"].map((name) => ({ request, testName: "t", name }));
  const created = await store.createGroup({ runs });
  if (created.outcome !== "created") throw new Error(created.outcome);
  const [a, b] = created.runs.map(({ id }) => id) as [string, string];
  await store.setStatus(a, { status: "completed" });

  const view = async ({ id }: Pick<RunRecord, "id">) => {
    const now = (await store.getRecord(id))!;
    return viewRun(now, restingProgress(now, await store.tally(id)));
  };
  const comparer = createComparer({
    store,
    view,
    async summarise() { // slow: the run ends meanwhile
      await store.setStatus(b, { status: "completed" });
      return { statistics: {}, usage: { input_tokens: 0, output_tokens: 0 } } as RunSummary;
    },
  });
  const { status, runs: models, pairs, best } = await comparer.compare({ group: created.id });
  assertEquals({ status, of: models.map((model) => model.status), pairs, best }, {
    status: "running",
    of: ["completed", "running"],
    pairs: null,
    best: null,
  });
});

Deno.test("a report describes a run that ends while it is made by its end", async () => {
  const store = memoryStore();
  const runs = ["A", "B"].map((name) => ({ request: evaluateRequest(), testName: "t", name }));
  const created = await store.createGroup({ runs });
  if (created.outcome !== "created") throw new Error(created.outcome);
  const described: RunRecord[] = [];
  const comparer = createComparer({
    store,
    async view({ id }) {
      await store.setStatus(id, { status: "completed" });
      const now = (await store.getRecord(id))!;
      return viewRun(now, restingProgress(now, await store.tally(id)));
    },
    summarise(run) {
      described.push(run);
      const usage = { input_tokens: 0, output_tokens: 0 };
      return Promise.resolve({ statistics: {}, usage } as RunSummary);
    },
  });
  await comparer.compare({ group: created.id }, { withPairs: false });
  assertEquals(described, await store.groupRuns(created.id));
  assertEquals(described.map(({ status }) => status), ["completed", "completed"]);
});

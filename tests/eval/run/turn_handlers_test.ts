import { assert, assertEquals } from "@std/assert";
import { writeCursor } from "../../../shared/http/cursor.ts";
import type { Service } from "../../../shared/http/router.ts";
import { compareReply } from "../../../eval/score/agreement/agreement.ts";
import { openStore } from "../../../eval/store/open_store.ts";
import { RunHeadline, RunSummary } from "../../../eval/figures/run_summary.ts";
import { TurnRow } from "../../../eval/run/turn_view.ts";
import { providerError } from "../../fakes/eval_ports.ts";
import {
  evalService,
  evaluateBody,
  evaluateRequestOf,
  evaluateWith,
} from "../../fakes/eval_service.ts";
import { fakeEmbedder, scoringPorts } from "../../fakes/scoring_ports.ts";
import { memoryStore } from "../../fakes/memory_store.ts";
import { gatedTarget } from "../../fakes/gated_target.ts";

// deno-lint-ignore no-explicit-any -- answers of whatever shape, which is what is tested
type Answer = any;

async function get(service: Service, path: string): Promise<{ status: number; body: Answer }> {
  const response = await service(new Request(`http://127.0.0.1:8080${path}`));
  return { status: response.status, body: await response.json() };
}

/** Three scenarios of two turns, two attempts each; replies repeat the question, "fail" fails. */
const BATCH = ["right", "wrong", "fail"].map((text) => ({
  id: `the ${text} one`,
  description: `says ${text}`,
  interactions: [
    { id: "a", user_message: "right", reference_reply: "right" },
    {
      id: "b",
      user_message: text,
      reference_reply: "right",
      reference_metadata: { mood: "calm" },
    },
  ],
}));

/** One run in a real database, for all tests of this file. */
async function startRun() {
  const store = await openStore({ path: ":memory:" });
  const { service } = evalService((conversation) => {
    const asked = conversation.at(-1)!.content;
    if (asked === "fail") throw providerError(500);
    return asked;
  }, { store });
  const body = evaluateBody({ test_batch: BATCH, attempts: 2, test_name: "lists" });
  const { run_id, results } = await evaluateWith(service, body);
  return { service, store, id: run_id, results };
}
let started: ReturnType<typeof startRun> | undefined;
const run = () => started ??= startRun();

const placesOf = ({ turns }: { turns: TurnRow[] }) =>
  turns.map((turn) => `${turn.scenario}/${turn.attempt_id}/${turn.turn}`);

Deno.test("turns are listed without texts, in pages, and each page says how to get the next", async () => {
  const { service, id } = await run();
  const first = (await get(service, `/runs/${id}/turns?limit=5`)).body;
  for (const row of first.turns) assertEquals(TurnRow.strict().parse(row), row);
  assertEquals([first.total, first.turns.length], [12, 5]);
  assertEquals(first.turns[0].scenario_id, "the right one");
  assertEquals(first.turns[0].interaction, undefined);
  const second =
    (await get(service, `/runs/${id}/turns?limit=50&cursor=${first.next_cursor}`)).body;
  assertEquals([second.turns.length, second.total, second.next_cursor], [7, null, null]);
  assertEquals(new Set([...placesOf(first), ...placesOf(second)]).size, 12);
});

Deno.test("turns are filtered and sorted by the parameters of the query", async () => {
  const { service, id } = await run();
  const list = async (query: string) => (await get(service, `/runs/${id}/turns?${query}`)).body;
  assertEquals(placesOf(await list("outcome=failed")), ["2/1/1", "2/2/1"]);
  assertEquals((await list("outcome=failed,below")).total, 4);
  assertEquals((await list("sort=overall&limit=1&scenario_id=the+wrong+one")).turns[0].turn, 1);
  assertEquals((await list("score=exact_match&min=1")).total, 8);
  const worst = placesOf(await list("sort=worst"));
  assertEquals(worst.slice(0, 6), ["1/1/1", "2/1/1", "0/1/0", "0/1/1", "1/1/0", "2/1/0"]);
  assertEquals(worst.slice(6), worst.slice(0, 6).map((place) => place.replace("/1/", "/2/")));
  const first = await list("sort=worst&limit=7");
  const rest = await list(`sort=worst&cursor=${first.next_cursor}`);
  assertEquals([...placesOf(first), ...placesOf(rest)], worst);
  assertEquals(placesOf(await list("sort=worst&text=WRONG")), ["1/1/1", "1/2/1"]);
  assertEquals((await list("label_key=mood&expected=calm&found=(failed)")).total, 2);
  assertEquals(placesOf(await list("scenario=1&attempt_id=2&turn=0")), ["1/2/0"]);
  assertEquals(placesOf(await list("text=WRONG&sort=-position")), ["1/2/1", "1/1/1"]);
  assertEquals((await list("outcome=passed&threshold=0")).total, 10);
  const [turn] = (await list("fields=user_message,agent_reply&max_chars=3&limit=1")).turns;
  assertEquals(turn.interaction, { user_message: "rig…", agent_reply: "rig…" });
});

Deno.test("turns are filtered by the label of their agreement, and a run counts the labels", async () => {
  const references = ["It is open.", "It is shut.", "It costs $5."];
  const test_batch = references.map((reference_reply, index) => ({
    id: `${index}`,
    interactions: [{ id: "a", user_message: reference_reply, reference_reply }],
  }));
  const texts = new Map<unknown, string>();
  const { embedder } = fakeEmbedder({
    compare: (pair) =>
      compareReply(pair, {
        windows(text) {
          const window = { vector: Float32Array.of(1), states: new Float16Array(), unknown: 0 };
          texts.set(window, text);
          return Promise.resolve([window]);
        },
        compare(_reference, reply) {
          const isDenied = texts.get(reply)!.includes("not");
          const direction: [number, number, number] = isDenied ? [0, 0, 1] : [1, 0, 0];
          return Promise.resolve({ reply: direction, reference: direction, similarity: 0.9 });
        },
      }),
  });
  const { service } = evalService((conversation) => {
    const asked = conversation.at(-1)!.content;
    return asked.includes("open") ? "It is not open." : asked.includes("$5") ? "It's $6." : "Shut.";
  }, { scoring: scoringPorts({ embedder }) });
  const { run_id, results } = await evaluateWith(service, evaluateBody({ test_batch }));
  const list = async (label: string) =>
    placesOf((await get(service, `/runs/${run_id}/turns?agreement=${label}`)).body);
  assertEquals(await list("contradicts"), ["0/1/0", "2/1/0"]);
  assertEquals(await list("same"), ["1/1/0"]);
  assertEquals(await list("adds"), []);
  assertEquals((await get(service, `/runs/${run_id}/turns?agreement=perhaps`)).status, 400);
  assertEquals(results.agreements, { contradicts: 2, same: 1 });
});

Deno.test("a text is searched for in the turns of all runs, by run and in pages", async () => {
  const { service, store, id } = await startRun();
  const { service: other } = evalService(() => "Wrongly said", { store });
  const body = evaluateBody({ test_batch: BATCH.slice(0, 1), attempts: 2, test_name: "newer" });
  const { run_id: newer } = await evaluateWith(other, body);
  const search = async (query: string) => (await get(service, `/turns?${query}`)).body;
  const all = await search("text=wrong");
  assertEquals(all.runs.map(({ run_id }: Answer) => run_id), [newer, id]);
  assertEquals(all.runs.map(({ turns }: Answer) => turns.length), [3, 2]);
  assertEquals(all.runs.map(({ has_more }: Answer) => has_more), [true, false]);
  assertEquals(all.runs[0].turns[0].interaction.agent_reply, "Wrongly said");
  assertEquals(all.next_cursor, null);
  const first = await search("text=wrong&limit=1");
  assertEquals(first.runs.length, 1);
  const second = await search(`text=wrong&limit=1&cursor=${first.next_cursor}`);
  assertEquals(second.runs.map(({ run_id }: Answer) => run_id), [id]);
  assertEquals((await search("text=nowhere")).runs, []);
  assertEquals((await get(service, "/turns")).status, 400);
});

Deno.test("a found run of a group has the name that the group gives its model", async () => {
  const { service, store } = await startRun();
  const { service: grouped } = evalService(() => "Grouped", { store });
  const targets = ["before", "after"].map((name) => ({
    endpoint: "http://127.0.0.1:9",
    model_id: `m-${name}`,
    name,
  }));
  const body = evaluateBody({ test_batch: BATCH.slice(0, 1), targets });
  const response = await grouped(
    evaluateRequestOf({ ...body, endpoint: undefined, model_id: undefined }),
  );
  assertEquals(response.status, 200, await response.text());
  const { runs: found } = (await get(service, "/turns?text=grouped")).body;
  assertEquals(found.map(({ name }: Answer) => name).sort(), ["after", "before"]);
});

Deno.test("a run is renamed and tagged, and lists show it", async () => {
  const { service, id } = await startRun();
  const change = async (body: unknown) => {
    const request = new Request(`http://127.0.0.1:8080/runs/${id}`, {
      method: "PATCH",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    return (await service(request)).status;
  };
  assertEquals(await change({ test_name: "renamed", tags: ["main"] }), 200);
  const { runs: [run] } = (await get(service, "/runs?text=main")).body;
  assertEquals([run.test_name, run.tags], ["renamed", ["main"]]);
  assertEquals((await get(service, `/runs/${id}?result=false`)).body.tags, ["main"]);
  assertEquals(await change({ tags: ["two words"] }), 400);
  assertEquals(await change({ tags: [] }), 200);
  assertEquals((await get(service, `/runs/${id}?result=false`)).body.tags, undefined);
});

Deno.test("turns are filtered by latency, by grades, and by what changed since another run", async () => {
  const { service, store, id } = await startRun();
  const total = async (query: string) =>
    (await get(service, `/runs/${id}/turns?${query}`)).body.total;
  assertEquals([await total("latency_min=0"), await total("latency_max=600000")], [12, 12]);
  assertEquals(await total("latency_min=600000"), 0);
  assertEquals([await total("graded=true"), await total("graded=false")], [0, 12]);
  await service(
    new Request(`http://127.0.0.1:8080/runs/${id}/turns/1/2/1/grade`, {
      method: "PUT",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ value: 1 }),
    }),
  );
  assertEquals([await total("graded=true"), await total("graded=false")], [1, 11]);
  assertEquals(await total(`baseline=${id}`), 0);
  const { service: other } = evalService(() => "right", { store });
  const body = evaluateBody({ test_batch: BATCH, attempts: 2, test_name: "lists" });
  const { run_id: better } = await evaluateWith(other, body);
  assertEquals(await total(`baseline=${better}`), 4);
  assertEquals(await total(`baseline=${better}&scenario=1`), 2);
  assertEquals(await total(`baseline=${better}&change=0.9&outcome=failed`), 2);
});

Deno.test("a row has the outcomes of all attempts at its turn, if they are asked for", async () => {
  const { service, id } = await run();
  const { turns } = (await get(service, `/runs/${id}/turns?siblings=true&outcome=failed`)).body;
  assertEquals(turns.map(({ attempts }: TurnRow) => attempts), [
    ["failed", "failed"],
    ["failed", "failed"],
  ]);
});

Deno.test("scenarios that pass in some attempts only come first, then those that never pass", async () => {
  const store = await openStore({ path: ":memory:" });
  const calls = new Map<string, number>();
  const { service } = evalService((conversation) => {
    const asked = conversation.at(-1)!.content;
    const call = (calls.get(asked) ?? 0) + 1;
    calls.set(asked, call);
    return asked === "mixed" && call % 2 === 0 ? "nothing like it" : asked;
  }, { store });
  const batch = ["always", "never", "mixed"].map((text) => ({
    id: text,
    interactions: [{
      id: "a",
      user_message: text,
      reference_reply: text === "never" ? "something else entirely, at length" : text,
    }],
  }));
  const { run_id: id } = await evaluateWith(
    service,
    evaluateBody({ test_batch: batch, attempts: 2 }),
  );
  const first = (await get(service, `/runs/${id}/scenarios?sort=stability&limit=2`)).body;
  assertEquals(
    first.scenarios.map(({ scenario_id }: Answer) => scenario_id),
    ["mixed", "never"],
  );
  const next = `/runs/${id}/scenarios?sort=stability&cursor=${first.next_cursor}`;
  assertEquals((await get(service, next)).body.scenarios[0].scenario_id, "always");
  const { scenarios } = (await get(service, `/runs/${id}/summary`)).body;
  assertEquals([scenarios.passed, scenarios.sometimes, scenarios.failed], [1, 1, 1]);
});

Deno.test("an invalid parameter of the lists is refused by its name", async () => {
  const { service, id } = await run();
  const other = (await get(service, `/runs/${id}/turns?limit=1&sort=overall`)).body.next_cursor;
  const cases: [string, string][] = [
    [`/runs/${id}/turns?limit=0`, "limit"],
    [`/runs/${id}/turns?limit=1001`, "limit"],
    [`/runs/${id}/turns?cursor=nonsense`, "cursor"],
    [`/runs/${id}/turns?sort=-overall&cursor=${other}`, "cursor"],
    [`/runs/${id}/turns?outcome=bad`, "outcome.0"],
    [`/runs/${id}/turns?min=low`, "min"],
    [`/runs/${id}/turns?sort=`, "sort"],
    [`/runs/${id}/turns?sort=-`, "sort"],
    [`/runs/${id}/turns?sort=overal`, "sort"],
    [`/runs/${id}/turns?sort=-Latency_ms&outcome=missing`, "sort"],
    [`/runs/${id}/turns?score=&min=0`, "score"],
    [`/runs/${id}/turns?score=overal&min=0`, "score"],
    [`/runs/${id}/turns?label_key=`, "label_key"],
    [`/runs/${id}/turns?label_key=moods`, "label_key"],
    [`/runs/${id}/turns?expected=calm`, "label_key"],
    [`/runs/${id}/turns?text=%00`, "text"],
    [`/runs/${id}/turns?attempt_id=3000000000`, "attempt_id"],
    [`/runs/${id}/turns?cursor=${writeCursor(["position", null, 3e9, 0, 0])}`, "cursor"],
    [`/runs/${id}/turns/0/3000000000/0`, "attempt"],
    [`/runs/${id}/turns/0/0/0`, "attempt"],
    [`/runs/${id}/turns/x/1/0`, "scenario"],
    [`/runs/${id}/scenarios?cursor=W10`, "cursor"],
    [`/runs/${id}/scenarios?cursor=${writeCursor(["scenario", 3e9])}`, "cursor"],
    [`/runs?sort=age`, "sort"],
    [`/runs?cursor=${other}`, "cursor"],
    ...[
      ["duration", id, "long"],
      ["duration", id, 1.5],
      ["overall", id, "high"],
      ["test_name", id, 3],
      ["test_name", id, "a\0b"],
      ["status", "a\0b", "completed"],
    ].map((forged): [string, string] => [
      `/runs?sort=${forged[0]}&cursor=${writeCursor(forged)}`,
      "cursor",
    ]),
    [`/runs/${id}/turns?sort=seq&cursor=${writeCursor(["seq", 1.5, 0, 0, 0])}`, "cursor"],
    [`/compare/scenarios?baseline=${id}&candidate=${id}&score=none`, "score"],
    [`/compare/turns?baseline=${id}`, "candidate"],
  ];
  for (const [path, name] of cases) {
    const { status, body } = await get(service, path);
    assertEquals([path, status, body.errors?.[0]?.path], [path, 400, name]);
  }
  for (const path of ["none/turns", "none/summary", `${id}/turns/9/1/0`, "none/turns/0/1/0"]) {
    assertEquals([path, (await get(service, `/runs/${path}`)).status], [path, 404]);
  }
});

Deno.test("turns are sorted by scores that only some have, or none, and while there are none", async () => {
  const { service, id } = await run();
  for (
    const query of ["sort=mood_match", "sort=overall&outcome=missing", "sort=-chrf&text=no"]
  ) {
    assertEquals([query, (await get(service, `/runs/${id}/turns?${query}`)).status], [query, 200]);
  }
  const store = await openStore({ path: ":memory:" });
  const { target, reached, open } = gatedTarget();
  const { service: slow } = evalService(undefined, { store, targetOf: () => target });
  const free = { id: "s", interactions: [{ id: "a", user_message: "Hi" }] };
  const labelled = { user_message: "Hi", reference_metadata: { "": "calm" } };
  const running = evaluateWith(
    slow,
    evaluateBody({ test_batch: [free, { id: "t", interactions: [{ id: "b", ...labelled }] }] }),
  );
  await reached(1);
  const [{ run_id }] = (await get(slow, "/runs")).body.runs;
  const list = async (query: string) => await get(slow, `/runs/${run_id}/turns?${query}`);
  assertEquals((await list("sort=any_score")).status, 200);
  open();
  await running;
  assertEquals((await list("sort=any_score")).status, 400);
  assertEquals((await list("sort=overall")).status, 200);
  assertEquals((await list("sort=_match")).status, 200);
  assertEquals((await list("label_key=&expected=calm")).body.total, 1);
});

Deno.test("one turn comes with its scores, its texts and its conversation", async () => {
  const { service, id, results } = await run();
  const { body } = await get(service, `/runs/${id}/turns/1/2/1`);
  assertEquals(body.interaction, results.scenarios[1]!.attempts[1]!.interactions[1]);
  assertEquals([body.scenario_id, body.attempt_id, body.turn], ["the wrong one", 2, 1]);
  assertEquals([body.outcome, body.description, body.omitted], ["below", "says wrong", 0]);
  assertEquals(
    body.conversation.map((turn: Answer) => turn.interaction.agent_reply),
    ["right", "wrong"],
  );
});

Deno.test("a summary has the numbers of the result and counts turns, tokens and errors", async () => {
  const { service, store, id, results } = await run();
  const { body } = await get(service, `/runs/${id}/summary`);
  assertEquals(RunSummary.strict().parse(body), body);
  assertEquals(body.statistics, JSON.parse(JSON.stringify(results.statistics)));
  assertEquals(body.outcomes, { passed: 8, below: 2, failed: 2, missing: 0, unscored: 0 });
  assertEquals(body.scenarios, {
    passed: 1,
    sometimes: 0,
    failed: 2,
    unscored: 0,
  });
  assertEquals(body.errors.map((error: Answer) => error.turns), [2]);
  assertEquals(body.histograms.exact_match.at(-1), 8);
  assert(await store.summary(id), "it is stored for the next time");
});

Deno.test("runs are listed with their headline, sorted by it and found by text", async () => {
  const { service, id, results } = await run();
  const { body } = await get(service, "/runs?sort=-overall&text=LISTS");
  assertEquals(body.runs.map((run: Answer) => run.run_id), [id]);
  const { headline } = body.runs[0];
  assertEquals(RunHeadline.strict().parse(headline), headline);
  assertEquals(headline.scores.overall.ci95, results.statistics.overall!.ci95);
  assertEquals((await get(service, "/runs?text=other")).body.runs, []);
});

Deno.test("the best run is found by its overall before anyone has looked at the runs", async () => {
  const store = memoryStore();
  const reply = (text: string) => evalService(() => text, { store }).service;
  const ask = async (text: string) => {
    const test_batch = [{
      id: "s",
      interactions: [{ id: "a", user_message: "hi", reference_reply: "right" }],
    }];
    return (await evaluateWith(reply(text), evaluateBody({ test_batch }))).run_id;
  };
  const best = await ask("right");
  await ask("right or not");
  await ask("wrong");
  const { body } = await get(reply(""), "/runs?sort=-overall&limit=1");
  assertEquals(body.runs.map((run: Answer) => run.run_id), [best]);
});

Deno.test("scenarios are listed with the standing of every attempt", async () => {
  const { service, id } = await run();
  const first = (await get(service, `/runs/${id}/scenarios?limit=2`)).body;
  assertEquals([first.total, first.scenarios.length], [3, 2]);
  const rest = (await get(service, `/runs/${id}/scenarios?cursor=${first.next_cursor}`)).body;
  const [failed] = rest.scenarios;
  assertEquals([failed.scenario, failed.scenario_id], [2, "the fail one"]);
  assertEquals(failed.attempts.map((attempt: Answer) => [attempt.standing, attempt.failed]), [
    ["failed", 1],
    ["failed", 1],
  ]);
  assertEquals(rest.next_cursor, null);
});

Deno.test("an attempt passes if all its turns do: not with a failed call, nor with a missing score", async () => {
  const store = await openStore({ path: ":memory:" });
  const { service } = evalService(() => "right", {
    store: {
      ...store,
      recordTurn: (id, turn) => {
        const error = { code: "provider_error", status: 500, detail: "" };
        const own = turn.turn === 0 || turn.attempt === 0 ? { scores: { overall: 1 } } : [
          { scores: { overall: 0.6 } },
          { scores: { overall: 0 }, error },
          { scores: { overall: null }, missing_scores: { overall: "without judge" } },
        ][turn.attempt - 1]!;
        return store.recordTurn(id, { ...turn, result: { ...turn.result, ...own } });
      },
    },
  });
  const turns = ["a", "b"].map((id) => ({ id, user_message: "right", reference_reply: "right" }));
  const test_batch = [{ id: "s", interactions: turns }];
  const { run_id, results } = await evaluateWith(
    service,
    evaluateBody({ test_batch, attempts: 4 }),
  );
  const { body } = await get(service, `/runs/${run_id}/scenarios`);
  const standings = body.scenarios[0].attempts.map(({ standing }: Answer) => standing);
  assertEquals(standings, ["passed", "failed", "failed", "failed"]);
  assertEquals(results.pass_rate!.mean, 0.25);
  const { scenarios } = (await get(service, `/runs/${run_id}/summary`)).body;
  assertEquals(scenarios, { passed: 0, sometimes: 1, failed: 0, unscored: 0 });
  await store.close();
});

Deno.test("turns can be listed while their run is running, and its headline comes with its end", async () => {
  const gate = gatedTarget();
  const { service, runs } = evalService(undefined, { target: gate.target });
  const request = new Request("http://127.0.0.1:8080/evaluate", {
    method: "POST",
    headers: { "content-type": "application/json", prefer: "respond-async" },
    body: JSON.stringify(evaluateBody({ test_batch: BATCH.slice(0, 1) })),
  });
  const { run_id } = await (await service(request)).json();
  await gate.reached(1);
  const stored = runs.active(run_id)!.changed();
  gate.answer(0);
  await stored;
  const { body } = await get(service, `/runs/${run_id}/turns?sort=-seq`);
  assertEquals([body.total, body.turns[0].seq], [1, 1]);
  assertEquals((await get(service, `/runs/${run_id}/summary`)).body.outcomes.failed, 0);
  assertEquals((await get(service, "/runs")).body.runs[0].headline, null);
  const { ended } = runs.active(run_id)!;
  gate.open();
  gate.answer(1);
  await ended;
  const [listed] = (await get(service, "/runs")).body.runs;
  const outcomes: number[] = Object.values(listed.headline.outcomes);
  assertEquals(outcomes.reduce((a, b) => a + b), 2);
});

Deno.test("everything that two runs share is listed in pages, by any order", async () => {
  const { service, id } = await run();
  const other = await evaluateWith(
    service,
    evaluateBody({ test_batch: [...BATCH.slice(1), { ...BATCH[0], id: "another" }] }),
  );
  const both = `baseline=${other.run_id}&candidate=${id}`;
  const scenarios = (await get(service, `/compare/scenarios?${both}&limit=1`)).body;
  assertEquals([scenarios.total, scenarios.scenarios.length], [2, 1]);
  assertEquals(scenarios.scenarios[0].baseline.scenario, 0);
  assertEquals(scenarios.scenarios[0].candidate.scenario, 1);
  const turns = (await get(service, `/compare/turns?${both}&sort=-change`)).body;
  assertEquals([turns.total, turns.next_cursor], [4, null]);
  assertEquals(turns.turns[0].difference, 0);
  assertEquals(Object.keys(turns.turns[0].baseline), ["scenario", "turn", "mean"]);
  const next = `/compare/scenarios?${both}&limit=1&cursor=${scenarios.next_cursor}`;
  assertEquals((await get(service, next)).body.scenarios[0].scenario_id, "the fail one");
});

import { assert, assertEquals } from "@std/assert";
import type {
  RunCursor,
  RunSortKey,
  TurnCursor,
  TurnFilter,
  TurnQuery,
  TurnSort,
} from "../../../eval/store/list_query.ts";
import type { RunStore } from "../../../eval/store/store.ts";
import { failure, storedTurn } from "../../fakes/stored_runs.ts";
import { newRun, type StoreCase } from "./store_case.ts";

const IN_ORDER: TurnSort = { by: "position", isDescending: false };

/** All turns of a query, page by page, as `scenario.attempt.turn`. */
async function readAll(store: RunStore, id: string, query: Partial<TurnQuery>) {
  const places: string[] = [];
  let after: TurnCursor | null = null;
  do {
    const page: Awaited<ReturnType<RunStore["queryTurns"]>> = await store.queryTurns(id, {
      filter: {},
      sort: IN_ORDER,
      limit: 3,
      withResults: false,
      ...query,
      ...(after && { after }),
    });
    places.push(...page.turns.map((t) => `${t.scenario}.${t.attempt}.${t.turn}`));
    after = page.next;
  } while (after);
  return places;
}

/** Eight turns with two scores; one failed, one with a missing score, one not scored. */
async function fillRun(store: RunStore): Promise<string> {
  const id = await newRun(store, { scenarios: 2, attempts: 2, turns: 2 });
  const label = (intent: string) => ({
    reference_metadata: { intent: "Refund" },
    generated_metadata: { intent },
  });
  const turns = [
    storedTurn([0, 0, 0], { scores: { overall: 0.9, bleu: 0.1 }, ...label("refund") }),
    storedTurn([0, 0, 1], { scores: { overall: 0.5, bleu: 0.4 }, ...label("greeting") }),
    storedTurn([0, 1, 0], { scores: { overall: 0.7, bleu: 0.4 }, latency_ms: 50 }),
    storedTurn([0, 1, 1], { scores: { overall: 0, bleu: 0 }, error: failure, ...label("x") }),
    storedTurn([1, 0, 0], {
      scores: { overall: null, bleu: 0.3 },
      missing_scores: { overall: "without judge" },
    }),
    storedTurn([1, 0, 1], {
      scores: {},
      agent_reply: 'Grüße: 100% "sicher"_\nÄpfel',
      usage: { input_tokens: 1, output_tokens: 2, total_tokens: 3 },
    }),
    storedTurn([1, 1, 0], { scores: { overall: 0.7, bleu: 1 }, user_message: "返品したい" }),
    storedTurn([1, 1, 1], { scores: { overall: 0.2, "odd\0name": 0.5 }, agent_reply: "nul \0" }),
  ];
  for (const turn of turns) await store.recordTurn(id, turn);
  return id;
}

const ALL = ["0.0.0", "0.0.1", "0.1.0", "0.1.1", "1.0.0", "1.0.1", "1.1.0", "1.1.1"];

export const listCases: Record<string, StoreCase> = {
  "a turn whose required check failed, or whose tools do not fit, is below any threshold": async (
    store,
  ) => {
    const id = await newRun(store, { attempts: 3 });
    const required = { name: "c", type: "contains", weight: 1, required: true };
    const turns = [
      storedTurn([0, 0, 0], { check_results: [{ ...required, value: 0 }] }),
      storedTurn([0, 1, 0], { scores: { overall: 1, tools: 0 } }),
      storedTurn([0, 2, 0], { check_results: [{ ...required, value: 1 }] }),
    ];
    for (const turn of turns) await store.recordTurn(id, turn);
    const having = (outcome: "passed" | "below") =>
      readAll(store, id, { filter: { outcome: { oneOf: [outcome], threshold: 0.1 } } });
    assertEquals(await having("below"), ["0.0.0", "0.1.0"]);
    assertEquals(await having("passed"), ["0.2.0"]);
  },

  "turns are sorted by anything, in pages, each turn once and those without a value last": async (
    store,
  ) => {
    const id = await fillRun(store);
    const sorted = (sort: TurnSort) => readAll(store, id, { sort });
    assertEquals(await sorted(IN_ORDER), ALL);
    assertEquals(await sorted({ by: "position", isDescending: true }), ALL.toReversed());
    assertEquals(await sorted({ by: "seq", isDescending: true }), ALL.toReversed());
    assertEquals(
      await sorted({ by: "score", name: "overall", isDescending: false }),
      ["0.1.1", "1.1.1", "0.0.1", "0.1.0", "1.1.0", "0.0.0", "1.0.0", "1.0.1"],
    );
    assertEquals(
      await sorted({ by: "score", name: "bleu", isDescending: true }),
      ["1.1.0", "0.0.1", "0.1.0", "1.0.0", "0.0.0", "0.1.1", "1.0.1", "1.1.1"],
    );
    assertEquals(
      (await sorted({ by: "score", name: "odd\0name", isDescending: true }))[0],
      "1.1.1",
    );
    assertEquals((await sorted({ by: "latency_ms", isDescending: true }))[0], "0.1.0");
    assertEquals((await sorted({ by: "tokens", isDescending: false }))[0], "1.0.1");
  },

  "turns are filtered by outcome, score, label, place and text": async (store) => {
    const id = await fillRun(store);
    const filtered = (filter: TurnFilter) => readAll(store, id, { filter });
    const outcome = (...oneOf: NonNullable<TurnFilter["outcome"]>["oneOf"]) => ({
      outcome: { oneOf, threshold: 0.7 },
    });
    const cases: [TurnFilter, string[]][] = [
      [outcome("passed"), ["0.0.0", "0.1.0", "1.1.0"]],
      [outcome("failed", "below"), ["0.0.1", "0.1.1", "1.1.1"]],
      [outcome("missing"), ["1.0.0"]],
      [outcome("unscored"), ["1.0.1"]],
      [{ score: { name: "bleu", min: 0.4, max: 0.9 } }, ["0.0.1", "0.1.0"]],
      [{ score: { name: "overall", max: 0.2 } }, ["0.1.1", "1.1.1"]],
      [{ label: { key: "intent", found: "refund" } }, ["0.0.0"]],
      [{ label: { key: "intent", expected: "refund" } }, ["0.0.0", "0.0.1", "0.1.1"]],
      [{ label: { key: "intent", found: "(failed)" } }, ["0.1.1"]],
      [{ scenarios: [1], attempt: 0 }, ["1.0.0", "1.0.1"]],
      [{ scenarios: [] }, []],
      [{ turn: 1 }, ["0.0.1", "0.1.1", "1.0.1", "1.1.1"]],
      [{ text: "GRÜSSE" }, []],
      [{ text: "GRÜ" }, ["1.0.1"]],
      [{ text: '100% "SICHER"_\nä' }, ["1.0.1"]],
      [{ text: "100_" }, []],
      [{ text: "返品" }, ["1.1.0"]],
      [{ text: "REPLY 0.1" }, ["0.1.0", "0.1.1"]],
      [{ text: "agent_reply" }, []], // the name of a field is no text of the turn
      [{ text: "reply", ...outcome("failed") }, ["0.1.1"]],
    ];
    for (const [filter, expected] of cases) {
      assertEquals([filter, await filtered(filter)], [filter, expected]);
      if (filter.text !== undefined) continue;
      assertEquals([filter, await store.countTurns(id, filter)], [filter, expected.length]);
    }
  },

  "a text is found behind many turns that have it only as the name of a field": async (store) => {
    const id = await newRun(store, { turns: 1, attempts: 210 });
    for (let attempt = 0; attempt < 210; attempt++) {
      const agent_reply = attempt % 204 === 203 ? "the word AGENT_REPLY" : "none";
      const scores = { overall: 1 - attempt / 1_000 };
      await store.recordTurn(id, storedTurn([0, attempt, 0], { agent_reply, scores }));
    }
    const filter = { text: "agent_reply" };
    assertEquals(await readAll(store, id, { filter, limit: 1 }), ["0.203.0"]);
    const sort: TurnSort = { by: "score", name: "overall", isDescending: true };
    assertEquals(await readAll(store, id, { filter, sort, limit: 5 }), ["0.203.0"]);
    const all = await readAll(store, id, { filter: { text: "NONE" }, sort, limit: 60 });
    assertEquals([all.length, new Set(all).size, all[0]], [209, 209, "0.0.0"]);
  },

  "turns are found by scores and labels of any name": async (store) => {
    for (const name of ["", "$x", "$", "[0]", 'a "b"', "\\", "a.b", "é", "0"]) {
      const fields = (value: number, label: string) => ({
        scores: { overall: 1, [name]: value, [`${name} none`]: null },
        reference_metadata: { [name]: "yes" },
        generated_metadata: { [name]: label },
      });
      const id = await newRun(store, { turns: 2 });
      await store.recordTurn(id, storedTurn([0, 0, 0], fields(0.25, "yes")));
      await store.recordTurn(id, storedTurn([0, 0, 1], fields(0.75, "no")));
      const sort: TurnSort = { by: "score", name, isDescending: true };
      assertEquals([name, await readAll(store, id, { sort, limit: 1 })], [name, [
        "0.0.1",
        "0.0.0",
      ]]);
      const filtered = async (filter: TurnFilter) => [name, await readAll(store, id, { filter })];
      assertEquals(await filtered({ score: { name, min: 0.5 } }), [name, ["0.0.1"]]);
      assertEquals(await filtered({ score: { name: `${name} none`, min: 0 } }), [name, []]);
      assertEquals(await filtered({ label: { key: name, found: "no" } }), [name, ["0.0.1"]]);
    }
  },

  "a turn whose required check failed is below the threshold, whatever its score": async (
    store,
  ) => {
    const id = await newRun(store, { turns: 2 });
    const check = { name: "greets", type: "regex", weight: 1, required: true };
    for (const [turn, value] of [[0, 0], [1, 1]] as const) {
      const fields = { check_results: [{ ...check, value }] };
      await store.recordTurn(id, storedTurn([0, 0, turn], fields));
    }
    const find = (outcome: "passed" | "below" | "unscored") =>
      readAll(store, id, { filter: { outcome: { oneOf: [outcome], threshold: 0.7 } } });
    assertEquals(await find("below"), ["0.0.0"]);
    assertEquals(await find("passed"), ["0.0.1"]);
    assertEquals(await find("unscored"), []);
    const [attempt] = await store.attemptRows(id, { from: 0, to: 1, threshold: 0.7 });
    assertEquals([attempt?.passed, attempt?.below], [1, 1]);
  },

  "a page of turns has whole results if they are asked for, but not too many of them": async (
    store,
  ) => {
    const id = await newRun(store, { turns: 3 });
    for (let turn = 0; turn < 3; turn++) {
      await store.recordTurn(id, storedTurn([0, 0, turn], { agent_reply: "x".repeat(700_000) }));
    }
    const query = { filter: {}, sort: IN_ORDER, limit: 10, withResults: true };
    const { turns } = await store.queryTurns(id, query);
    assertEquals(JSON.parse(turns[0]!.resultJson!).agent_reply.length, 700_000);
    assertEquals((await readAll(store, id, query)).length, 3);
    const plain = await store.queryTurns(id, { ...query, withResults: false });
    assertEquals([plain.turns.length, plain.turns[0]!.resultJson], [3, undefined]);
    assertEquals(plain.turns[0]!.facets.id, "0.0");
  },

  "a conversation is read up to a turn, and attempts in numbers": async (store) => {
    const id = await fillRun(store);
    const read = async (turn: number, limit: number) =>
      (await store.conversation(id, { scenario: 0, attempt: 1, turn }, limit)).map((t) => t.turn);
    assertEquals(await read(0, 10), [0]);
    assertEquals(await read(1, 10), [0, 1]);
    assertEquals(await read(1, 1), [1]);
    assertEquals(await read(5, 10), [0, 1]);
    assertEquals(await read(2 ** 31 - 1, 10), [0, 1]);
    const rows = (from: number, to: number) => store.attemptRows(id, { from, to, threshold: 0.7 });
    assertEquals(await rows(0, 1), [
      { scenario: 0, attempt: 0, turns: 2, passed: 1, below: 1, failed: 0, missing: 0, mean: 0.7 },
      { scenario: 0, attempt: 1, turns: 2, passed: 1, below: 0, failed: 1, missing: 0, mean: 0.35 },
    ]);
    const [second] = await rows(1, 9);
    assertEquals([second?.missing, second?.mean], [1, null]);
  },

  "runs are sorted by anything, in pages, and found by text": async (store, clock) => {
    const ids: Record<string, string> = {};
    for (const [name, model, ms] of [["Über", "b/m", 30], ["alpha_1", "a/m", 10]] as const) {
      const id = ids[name] = await newRun(store, { test_name: name, model_id: model });
      clock.now += ms;
      await store.setStatus(id, { status: "completed" });
      const finishedAt = clock.now;
      const overall = ms / 100;
      await store.saveSummary({ id, finishedAt }, { overall, headline: "{}", summary: "{}" });
    }
    ids.running = await newRun(store, { test_name: "running", model_id: "c/m" });
    const best = { overall: 1, headline: "{}", summary: "{}" };
    const id = ids.half = await newRun(store, { test_name: "half", model_id: "d/m" });
    await store.setStatus(id, { status: "cancelled" });
    await store.saveSummary({ id, finishedAt: clock.now }, best);
    const named = Object.fromEntries(Object.entries(ids).map(([name, id]) => [id, name]));
    async function list(by: RunSortKey, isDescending: boolean, filter: { text?: string } = {}) {
      const found: string[] = [];
      let cursor: RunCursor | null = null;
      do {
        const page: Awaited<ReturnType<RunStore["listRuns"]>> = await store.listRuns({
          sort: { by, isDescending },
          limit: 1,
          ...filter,
          ...(cursor && { cursor }),
        });
        found.push(...page.runs.map(({ id }) => named[id]!));
        cursor = page.next;
      } while (cursor);
      return found.join(" ");
    }
    assertEquals(await list("created_at", false), "Über alpha_1 running half");
    assertEquals(await list("created_at", true), "half running alpha_1 Über");
    assertEquals(await list("model_id", false), "alpha_1 Über running half");
    assertEquals(
      await list("overall", true),
      "Über alpha_1 half running",
      "what is not complete is last",
    );
    assertEquals(await list("duration", false), "half alpha_1 Über running");
    assertEquals(await list("status", true), "running alpha_1 Über half");
    assertEquals(await list("created_at", true, { text: "ÜBER" }), "Über");
    assertEquals(await list("created_at", true, { text: "a_1" }), "alpha_1");
    assertEquals(await list("created_at", true, { text: "A/m" }), "alpha_1");
    assertEquals(await list("created_at", true, { text: "a%1" }), "");
  },

  "a stored summary is read back, and forgotten when its run is resumed": async (store, clock) => {
    const id = await newRun(store);
    await store.setStatus(id, { status: "cancelled" });
    const finishedAt = clock.now;
    const stored = { overall: 0.5, headline: '{"a":1}', summary: '{"b":2}' };
    await store.saveSummary({ id, finishedAt }, stored);
    assertEquals(await store.headlines([id, "none"]), new Map([[id, stored.headline]]));
    assertEquals(await store.summary(id), stored.summary);
    await store.setStatus(id, { status: "running" });
    assertEquals(await store.summary(id), undefined);
    assert(!(await store.headlines([id])).has(id));
  },
};

/** What the fake cannot do: it would have to join runs and grades. */
export const sqlCases: Record<string, StoreCase> = {
  "turns are filtered by latency, by grades, and by a change of their score": async (store) => {
    const id = await fillRun(store);
    const before = await newRun(store, { scenarios: 2, attempts: 2, turns: 2 });
    await store.recordTurn(before, storedTurn([0, 0, 0], { scores: { overall: 0.4 } }));
    await store.recordTurn(before, storedTurn([0, 0, 1], { scores: { overall: 0.45 } }));
    const filtered = (filter: TurnFilter) => readAll(store, id, { filter });
    assertEquals(await filtered({ latency: { min: 50, max: 60 } }), ["0.1.0"]);
    assertEquals(await filtered({ changed: { from: before, by: 0.1 } }), ["0.0.0"]);
    assertEquals(await filtered({ graded: true }), []);
    const place = { scenario: 1, attempt: 0, turn: 1 };
    const grade = { author: "Ann", value: 1, label: null, comment: null, correctedReply: null };
    await store.saveGrade(id, place, grade);
    assertEquals(await filtered({ graded: true }), ["1.0.1"]);
    assertEquals((await filtered({ graded: false })).length, 7);
    await store.deleteGrade(id, { ...place, author: "Ann" });
    assertEquals(await filtered({ graded: true }), []);
  },
};

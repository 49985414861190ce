import { datasetOf } from "../../../eval/store/dataset.ts";
import { assert, assertEquals } from "@std/assert";
import { openStore } from "../../../eval/store/open_store.ts";
import type { RunCursor } from "../../../eval/store/list_query.ts";
import type { RunPage, RunStore, StoredTurn } from "../../../eval/store/store.ts";
import { gradeCases } from "./grade_cases.ts";
import { datasetCases } from "./dataset_cases.ts";
import { listCases } from "./list_cases.ts";
import { memoryStore } from "../../fakes/memory_store.ts";
import { openSharedStore, postgresBin, startPostgres } from "../../fakes/postgres_server.ts";
import { evaluateRequest, failure, storedTurn, toTurnText } from "../../fakes/stored_runs.ts";

const DAY = 24 * 60 * 60 * 1000;

/** The handlers' tests use the fake, so it must behave as the others. */
const STORES: Record<string, (now: () => number) => Promise<RunStore>> = {
  "SQLite": (now) => openStore({ path: ":memory:", now }),
  "the fake": (now) => Promise.resolve(memoryStore({ now })),
  ...(postgresBin !== undefined && { "PostgreSQL": openEmpty }),
};

/** One server and one open store for all tests: each test finds it empty. */
const server = postgresBin === undefined ? undefined : await startPostgres();
let clockOfTest = Date.now;
const shared = server &&
  await openSharedStore(await server.createDatabase(), { now: () => clockOfTest() });
Deno.test.afterAll(async () => {
  await shared?.store.close();
  await server?.[Symbol.asyncDispose]();
});

async function openEmpty(now: () => number): Promise<RunStore> {
  clockOfTest = now;
  const { store, pool } = shared!;
  const tables = [
    "runs",
    "turns",
    "caller_keys",
    "pending_replies",
    "grades",
    "datasets",
    "dataset_versions",
    "dataset_parts",
  ];
  await pool.query({ text: `truncate ${tables.join(", ")}` });
  return { ...store, close: () => Promise.resolve() };
}

/** The same test for each kind of store, with a clock that the test sets. */
function testStores(
  name: string,
  test: (store: RunStore, clock: { now: number }) => Promise<void>,
): void {
  for (const [kind, open] of Object.entries(STORES)) {
    Deno.test(`${name} (${kind})`, async () => {
      const clock = { now: 1_000_000_000_000 };
      const store = await open(() => clock.now);
      try {
        await test(store, clock);
      } finally {
        await store.close();
      }
    });
  }
}

async function newRun(store: RunStore, fields: Parameters<typeof evaluateRequest>[0] = {}) {
  const request = evaluateRequest(fields);
  return (await store.createRun({ request, testName: request.test_name ?? "a test" })).id;
}

const positions = (turns: StoredTurn[]) => turns.map((t) => [t.scenario, t.attempt, t.turn]);

testStores(
  "a run is read back as it was stored, with the caller's own fields",
  async (store, clock) => {
    const request = evaluateRequest({ scenarios: 2, turns: 3, attempts: 4, team: "blue" });
    const { id, outcome } = await store.createRun({ request, testName: "nightly" });
    assertEquals(outcome, "created");
    assertEquals(await store.getRun(id), {
      id,
      parentId: null,
      status: "running",
      detail: null,
      testName: "nightly",
      modelId: "a/model",
      endpoint: "http://127.0.0.1:9/v1",
      attempts: 4,
      totalTurns: 24,
      createdAt: clock.now,
      finishedAt: null,
      tally: null,
      queryRemoved: false,
      dataset: await datasetOf(request.test_batch),
      gate: null,
      request,
    });
  },
);

testStores("a run that was not stored is not found", async (store) => {
  assertEquals(await store.getRun("none"), undefined);
  assertEquals(await store.getRecord("none"), undefined);
});

testStores("a run is read without its request, and a list cuts long names", async (store) => {
  const testName = "long name ".repeat(1000);
  const { id } = await store.createRun({ request: evaluateRequest(), testName });
  const { request: _, ...record } = (await store.getRun(id))!;
  assertEquals(await store.getRecord(id), record);
  const [listed] = (await store.listRuns({ limit: 1 })).runs;
  assertEquals(listed?.testName, `${testName.slice(0, 1000)}…`);
  assertEquals((await store.listRuns({ limit: 1, testName })).runs.length, 1);
});

testStores(
  "turns are read in the order of the batch, whichever was stored first, over many pages",
  async (store) => {
    const id = await newRun(store);
    const all: [number, number, number][] = [];
    for (let s = 0; s < 23; s++) {
      for (let a = 0; a < 11; a++) for (let t = 0; t < 3; t++) all.push([s, a, t]);
    }
    const shuffled = all.map((_, index) => all[(index * 398) % all.length]!);
    assertEquals(new Set(shuffled).size, all.length);
    await Promise.all(shuffled.map((position) => store.recordTurn(id, storedTurn(position))));
    const turns = await Array.fromAsync(store.turns(id));
    assertEquals(positions(turns), all);
    const pages = await Array.fromAsync(store.turnPages(id));
    assertEquals(pages.flat(), turns.map(toTurnText));
  },
);

testStores(
  "a turn is recorded once: the first one stays, and the second is told",
  async (store) => {
    const id = await newRun(store);
    const record = (agent_reply: string) =>
      store.recordTurn(id, storedTurn([0, 0, 0], { agent_reply }));
    assertEquals(await record("first"), "stored");
    assertEquals(await record("second"), "taken");
    const turns = await Array.fromAsync(store.turns(id));
    assertEquals(turns.map((turn) => turn.result.agent_reply), ["first"]);
  },
);

testStores(
  "events are numbered in the order of storing and can be read from any number",
  async (store) => {
    const id = await newRun(store);
    for (const turn of [2, 0, 1]) await store.recordTurn(id, storedTurn([0, 0, turn]));
    const events = await store.turnsAfter(id, { seq: 1, limit: 10 });
    assertEquals(events.map(({ seq, turn }) => [seq, turn]), [[2, 0], [3, 1]]);
    assertEquals(JSON.parse(events[0]!.resultJson), storedTurn([0, 0, 0]).result);
  },
);

testStores(
  "a tally counts finished and failed turns, and has the mean so far",
  async (store) => {
    const id = await newRun(store);
    assertEquals(await store.tally(id), {
      done: 0,
      failed: 0,
      missing: 0,
      scored: 0,
      mean: null,
      lastSeq: 0,
    });
    await store.recordTurn(id, storedTurn([0, 0, 0], { scores: { overall: 0.5 } }));
    await store.recordTurn(id, storedTurn([0, 0, 1], { scores: { overall: null } }));
    await store.recordTurn(id, storedTurn([0, 0, 2], { scores: { overall: 0 }, error: failure }));
    assertEquals(await store.tally(id), {
      done: 3,
      failed: 1,
      missing: 0,
      scored: 2,
      mean: 0.25,
      lastSeq: 3,
    });
  },
);

testStores("runs are listed newest first, in pages, each run once", async (store) => {
  const ids: string[] = [];
  for (let n = 0; n < 7; n++) ids.unshift(await newRun(store)); // all in one millisecond
  const seen: string[] = [];
  let cursor: RunCursor | null = null;
  do {
    const page: RunPage = await store.listRuns({ limit: 3, ...(cursor && { cursor }) });
    seen.push(...page.runs.map((run) => run.id));
    cursor = page.next;
  } while (cursor !== null);
  assertEquals(seen, ids);
});

testStores("runs are listed by test, by model and by status", async (store) => {
  const a = await newRun(store, { test_name: "a" });
  const b = await newRun(store, { test_name: "b", model_id: "other/model" });
  await store.setStatus(b, { status: "completed" });
  const list = async (filter: object) =>
    (await store.listRuns({ limit: 10, ...filter })).runs.map((run) => run.id);
  assertEquals(await list({ testName: "a" }), [a]);
  assertEquals(await list({ modelId: "other/model" }), [b]);
  assertEquals(await list({ status: "completed" }), [b]);
  assertEquals(await list({ status: "running", testName: "b" }), []);
});

testStores(
  "an ended run has its end time, and an unfinished run is listed as unfinished",
  async (store, clock) => {
    const [first, second, third] = [
      await newRun(store),
      await newRun(store),
      await newRun(store),
    ] as const;
    clock.now += 5_000;
    await store.setStatus(first, { status: "failed", detail: "why" });
    await store.setStatus(third, { status: "interrupted" });
    assertEquals(await store.unfinishedRuns(), [second]);
    const run = await store.getRun(first);
    assertEquals([run?.status, run?.detail, run?.finishedAt], ["failed", "why", clock.now]);
    assertEquals((await store.getRun(third))?.finishedAt, null);
  },
);

testStores(
  "the same key and body return the same run, a different body is a mismatch",
  async (store) => {
    const request = evaluateRequest();
    const create = (bodyHash: string) =>
      store.createRun({ request, testName: "t", idempotency: { caller: "", key: "k", bodyHash } });
    const [first, again] = await Promise.all([create("one"), create("one")]);
    assertEquals([first.outcome, again.outcome].toSorted(), ["created", "known"]);
    assertEquals(again.id, first.id);
    assertEquals((await create("two")).outcome, "mismatch");
    assertEquals((await store.listRuns({ limit: 10 })).runs.length, 1);
  },
);

testStores(
  "a key can be used again after 24 hours, or once its run is deleted",
  async (store, clock) => {
    const request = evaluateRequest();
    const create = () =>
      store.createRun({
        request,
        testName: "t",
        idempotency: { caller: "", key: "k", bodyHash: "h" },
      });
    const first = await create();
    clock.now += DAY - 1;
    assertEquals((await create()).outcome, "known");
    clock.now += 1;
    const second = await create();
    assertEquals(second.outcome, "created");
    assert(second.id !== first.id);
    await store.deleteRun(second.id);
    assertEquals((await create()).outcome, "created");
  },
);

testStores(
  "a retry starts with its parent's turns up to the first failed one of each attempt",
  async (store) => {
    const parentId = await newRun(store, { turns: 4 });
    const error = failure;
    const kept = ([[0, 0, 0], [0, 1, 0], [1, 0, 0], [1, 0, 1]] as const)
      .map((position) => storedTurn([...position]));
    for (const turn of kept) await store.recordTurn(parentId, turn);
    for (const turn of [[0, 0, 1], [0, 2, 0], [0, 0, 3]] as const) {
      await store.recordTurn(parentId, storedTurn([...turn], { error }));
    }
    for (const turn of [[0, 0, 2], [0, 2, 1]] as const) {
      await store.recordTurn(parentId, storedTurn([...turn]));
    }
    const { id } = await store.createRun({ request: evaluateRequest(), testName: "t", parentId });
    assertEquals((await store.getRun(id))?.parentId, parentId);
    assertEquals(await Array.fromAsync(store.turns(id)), kept);
    await store.recordTurn(id, storedTurn([0, 0, 1]));
    const events = await store.turnsAfter(id, { seq: 4, limit: 9 });
    assertEquals(events.map(({ seq, turn }) => [seq, turn]), [[5, 1]]);
  },
);

testStores(
  "a retry keeps the reply of a turn whose overall is missing, unless an earlier turn failed",
  async (store) => {
    const parentId = await newRun(store, { turns: 3 });
    const missing = { scores: { overall: null }, missing_scores: { overall: "judge" } };
    const encoding = "not utf-8" as const;
    await store.recordTurn(parentId, storedTurn([0, 0, 0]));
    await store.recordTurn(
      parentId,
      storedTurn([0, 0, 1], {
        ...missing,
        finish_reason: "length",
        reasoning: "hm",
        reply_encoding: encoding,
      }),
    );
    await store.recordTurn(parentId, storedTurn([0, 0, 2]));
    await store.recordTurn(parentId, storedTurn([0, 1, 0], { error: failure }));
    await store.recordTurn(parentId, storedTurn([0, 1, 1], missing));
    const { id } = await store.createRun({ request: evaluateRequest(), testName: "t", parentId });
    assertEquals(positions(await Array.fromAsync(store.turns(id))), [[0, 0, 0], [0, 0, 2]]);
    assertEquals(await store.pendingPositions(id), [{ scenario: 0, attempt: 0, turn: 1 }]);
    const received = {
      content: "reply 0.0.1",
      usage: null,
      latencyMs: 5,
      finishReason: "length",
      reasoning: "hm",
      encoding,
    };
    assertEquals(await store.pendingReplies(id, { scenario: 0, attempt: 0 }), [
      { scenario: 0, attempt: 0, turn: 1, ...received, tries: 0 },
    ]);
  },
);

testStores(
  "the stored turns are counted per attempt, and can be read for one attempt",
  async (store) => {
    const id = await newRun(store);
    for (const position of [[0, 0, 0], [0, 0, 1], [0, 1, 0], [3, 0, 0]] as const) {
      await store.recordTurn(id, storedTurn([...position]));
    }
    assertEquals(await store.attemptCounts(id), [
      { scenario: 0, attempt: 0, turns: 2 },
      { scenario: 0, attempt: 1, turns: 1 },
      { scenario: 3, attempt: 0, turns: 1 },
    ]);
    const turns = await store.attemptTurns(id, { scenario: 0, attempt: 0 });
    assertEquals(positions(turns), [[0, 0, 0], [0, 0, 1]]);
  },
);

testStores("deleting a run deletes its turns, and no other run's", async (store) => {
  const [gone, kept] = [await newRun(store), await newRun(store)];
  for (const id of [gone, kept]) await store.recordTurn(id, storedTurn([0, 0, 0]));
  assertEquals(await store.deleteRun(gone), true);
  assertEquals(await store.deleteRun(gone), false);
  assertEquals(await Array.fromAsync(store.turns(gone)), []);
  assertEquals((await Array.fromAsync(store.turns(kept))).length, 1);
});

testStores(
  "retention deletes runs that ended before a time, and never a running one",
  async (store, clock) => {
    const [old, running] = [await newRun(store), await newRun(store)];
    await store.setStatus(old, { status: "completed" });
    clock.now += 10 * DAY;
    const recent = await newRun(store);
    await store.setStatus(recent, { status: "completed" });
    assertEquals(await store.deleteOlderThan(clock.now - 7 * DAY), 1);
    const left = (await store.listRuns({ limit: 10 })).runs.map((run) => run.id);
    assertEquals(left, [recent, running]);
  },
);

testStores(
  "a run that is deleted while it is read can be read to its end, then it is gone",
  async (store) => {
    const id = await newRun(store, { attempts: 500 });
    const all = Array.from({ length: 500 }, (_, attempt) => storedTurn([0, attempt, 0]));
    await Promise.all(all.map((turn) => store.recordTurn(id, turn)));
    {
      using _kept = store.keep(id);
      const pages = store.turnPages(id)[Symbol.asyncIterator]();
      let read = (await pages.next()).value!.length;
      assertEquals(await store.deleteRun(id), true);
      assertEquals(await store.getRun(id), undefined);
      for (let page = await pages.next(); !page.done; page = await pages.next()) {
        read += page.value.length;
      }
      assertEquals(read, 500);
    }
    while ((await store.tally(id)).done > 0); // gone in a moment
  },
);

testStores("pages of large turns and of large events have few entries", async (store) => {
  const id = await newRun(store, { attempts: 6 });
  const agent_reply = "ä".repeat(400_000);
  for (let attempt = 0; attempt < 6; attempt++) {
    await store.recordTurn(id, storedTurn([0, attempt, 0], { agent_reply }));
  }
  const pages = await Array.fromAsync(store.turnPages(id));
  assertEquals(pages.flat().map(({ attempt }) => attempt), [0, 1, 2, 3, 4, 5]);
  const seqs: number[] = [];
  while (true) {
    const events = await store.turnsAfter(id, { seq: seqs.at(-1) ?? 0, limit: 100 });
    if (events.length === 0) break;
    seqs.push(...events.map(({ seq }) => seq));
  }
  assertEquals(seqs, [1, 2, 3, 4, 5, 6]);
  if (pages.length === 1) return; // the fake's pages hold seven turns
  assert(pages.every((page) => page.length <= 2), `${pages.map((page) => page.length)}`);
});

testStores("a key belongs to its caller, and a key without a caller to all", async (store) => {
  const request = evaluateRequest();
  const create = async (caller: string, key: string) =>
    await store.createRun({ request, testName: "t", idempotency: { caller, key, bodyHash: "h" } });
  const [a, b] = [await create("a", "k"), await create("b", "k")];
  assertEquals([a.outcome, b.outcome], ["created", "created"]);
  assertEquals(await create("a", "k"), { outcome: "known", id: a.id });
  const find = (caller: string, key: string) => store.findByKey({ caller, key, bodyHash: "h" });
  assertEquals(await find("b", "k"), { outcome: "known", id: b.id });
  assertEquals(await find("c", "k"), undefined);
  const old = await create("", "old"); // of an earlier version, which knew no callers
  assertEquals(await find("a", "old"), { outcome: "known", id: old.id });
});

testStores("the query of an endpoint is not stored", async (store) => {
  const { id } = await store.createRun({
    request: evaluateRequest({ endpoint: "https://model.example/v1?key=hidden#too" }),
    testName: "t",
  });
  const run = (await store.getRun(id))!;
  assertEquals(JSON.stringify(run).includes("hidden"), false);
  assertEquals([run.endpoint, run.request.endpoint, run.queryRemoved], [
    "https://model.example/v1",
    "https://model.example/v1",
    true,
  ]);
});

testStores(
  "a reply without its turn is kept until the turn or the run is finished",
  async (store) => {
    const id = await newRun(store, { turns: 2, attempts: 2 });
    const usage = { input_tokens: 1, output_tokens: 2, total_tokens: 3 };
    const reply = (attempt: number, turn: number) => ({
      scenario: 0,
      attempt,
      turn,
      content: `reply ${attempt}.${turn}`,
      usage,
      latencyMs: 12,
      finishReason: "stop",
      reasoning: "hm",
      encoding: "not utf-8" as const,
    });
    await store.recordTurn(id, storedTurn([0, 0, 0]));
    for (const [attempt, turn] of [[0, 1], [1, 0]] as const) {
      await store.recordReply(id, reply(attempt, turn), { isUrgent: true });
    }
    assertEquals(await store.pendingPositions(id), [
      { scenario: 0, attempt: 0, turn: 1 },
      { scenario: 0, attempt: 1, turn: 0 },
    ]);
    const position = { scenario: 0, attempt: 0 };
    assertEquals(await store.pendingReplies(id, position), [{ ...reply(0, 1), tries: 0 }]);
    await store.countTry(id, { ...position, turn: 1 });
    assertEquals((await store.pendingReplies(id, position))[0]?.tries, 1);
    const again = { ...reply(0, 1), content: "asked again" };
    await store.recordReply(id, again, { isUrgent: true });
    assertEquals(await store.pendingReplies(id, position), [{ ...again, tries: 0 }]);
    await store.recordTurn(id, storedTurn([0, 0, 1]));
    assertEquals(await store.pendingReplies(id, position), []);
    await store.recordTurn(id, storedTurn([0, 1, 0]));
    assertEquals(await store.pendingPositions(id), []);
    await store.setStatus(id, { status: "completed" });
    assertEquals(await store.deleteRun(id), true);
  },
);

testStores(
  "a reply that is not urgent is soon on the disk, unless its turn is",
  async (store) => {
    const id = await newRun(store, { attempts: 2 });
    const reply = { scenario: 0, turn: 0, content: "r", usage: null, latencyMs: 1 };
    const writes = [0, 1].map((attempt) =>
      store.recordReply(id, { ...reply, attempt }, { isUrgent: false })
    );
    await store.recordTurn(id, storedTurn([0, 0, 0]));
    await Promise.all(writes);
    assertEquals(await store.pendingPositions(id), [{ scenario: 0, attempt: 1, turn: 0 }]);
  },
);

testStores(
  "a status is set only from the statuses that are named, and the one that holds is returned",
  async (store) => {
    const id = await newRun(store);
    const end = (status: "completed" | "cancelled") =>
      store.setStatus(id, { status, from: ["running"], tally: "count" });
    await store.recordTurn(id, storedTurn([0, 0, 0]));
    const ends = await Promise.all([end("completed"), end("cancelled")]);
    const run = await store.getRun(id);
    assertEquals(ends, [run!.status, run!.status]); // whichever was first
    assertEquals(run?.tally?.done, 1);
    assertEquals(await store.setStatus("none", { status: "completed" }), undefined);
  },
);

testStores("names with U+0000 and lone surrogates are stored and found", async (store) => {
  const testName = "a\0b\ud800c";
  const { id } = await store.createRun({ request: evaluateRequest(), testName });
  const found = await store.listRuns({ limit: 9, testName });
  assertEquals(found.runs.map((run) => run.id), [id]);
});

for (const [name, test] of Object.entries(listCases)) testStores(name, test);
for (const [name, test] of Object.entries(datasetCases)) testStores(name, test);

testStores(
  "a run keeps the outcome of its gate, and the digest of its batch is the same for the same batch",
  async (store) => {
    const [first, second] = [await newRun(store), await newRun(store)];
    await store.setGate(first, "failed");
    const { runs } = await store.listRuns({ limit: 2 });
    assertEquals(runs.map(({ id, gate }) => [id, gate]), [[second, null], [first, "failed"]]);
    assertEquals(new Set(runs.map(({ dataset }) => dataset)).size, 1);
    const other = await newRun(store, { turns: 5 });
    assert((await store.getRecord(other))?.dataset !== runs[0]?.dataset);
  },
);

testStores(
  "a tag names one run, keeps it from being deleted for its age, and goes with it",
  async (store) => {
    const [first, second] = [await newRun(store), await newRun(store)];
    for (const id of [first, second]) await store.setStatus(id, { status: "completed" });
    assertEquals(await store.findTag("main"), undefined);
    await store.setTag("main", first);
    await store.setTag("main", second);
    assertEquals(await store.findTag("main"), second);
    assertEquals(await store.deleteOlderThan(Number.MAX_SAFE_INTEGER), 1);
    assertEquals(await store.getRun(first), undefined);
    assertEquals(await store.countOlderThan(Number.MAX_SAFE_INTEGER), 0);
    await store.deleteRun(second);
    assertEquals(await store.findTag("main"), undefined);
  },
);
for (const [name, test] of Object.entries(gradeCases(newRun))) testStores(name, test);

Deno.test("a search reads about ten megabytes for one page, and the next one goes on", async () => {
  const store = await openStore({ path: ":memory:" });
  const id = await newRun(store, { attempts: 12 });
  const agent_reply = "x".repeat(1_100_000);
  for (let attempt = 0; attempt < 12; attempt++) {
    await store.recordTurn(id, storedTurn([0, attempt, 0], { agent_reply }));
  }
  const query = {
    filter: { text: "xx" },
    sort: { by: "position" as const, isDescending: false },
    limit: 100,
    withResults: true,
  };
  const first = await store.queryTurns(id, query);
  assertEquals(first.turns.length, 10);
  const second = await store.queryTurns(id, { ...query, after: first.next! });
  assertEquals([second.turns.map(({ attempt }) => attempt), second.next], [[10, 11], null]);
  await store.close();
});

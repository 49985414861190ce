import { assertEquals } from "@std/assert";
import { openStore } from "../../../eval/store/open_store.ts";
import type { RunStore } from "../../../eval/store/store.ts";
import { openSharedStore, postgresBin, startPostgres } from "../../fakes/postgres_server.ts";
import { storedTurn } from "../../fakes/stored_runs.ts";
import { datasetCases } from "./dataset_cases.ts";
import { deletionCases } from "./deletion_cases.ts";
import { gradeCases } from "./grade_cases.ts";
import { groupCases } from "./group_cases.ts";
import { keyCases } from "./key_cases.ts";
import { listCases, sqlCases } from "./list_cases.ts";
import { retryCases } from "./retry_cases.ts";
import { runCases } from "./run_cases.ts";
import { newRun, type StoreCase } from "./store_case.ts";
import { turnCases } from "./turn_cases.ts";
// connections to PostgreSQL outlive a test
import { test } from "../../fakes/leaky.ts";

const STORES: Record<string, (now: () => number) => Promise<RunStore>> = {
  "SQLite": (now) => openStore({ path: ":memory:", now }),
  "PostgreSQL": openEmpty,
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
    "grades",
    "datasets",
    "dataset_versions",
    "dataset_parts",
  ];
  await pool.query({ text: `truncate ${tables.join(", ")}` });
  return { ...store, close: () => Promise.resolve() };
}

const CASES: Record<string, StoreCase> = {
  ...runCases,
  ...turnCases,
  ...keyCases,
  ...retryCases,
  ...deletionCases,
  ...listCases,
  ...sqlCases,
  ...groupCases,
  ...datasetCases,
  ...gradeCases,
};

for (const [name, check] of Object.entries(CASES)) {
  for (const [kind, open] of Object.entries(STORES)) {
    const ignore = kind === "PostgreSQL" && postgresBin === undefined;
    const fn = async () => {
      const clock = { now: 1_000_000_000_000 };
      const store = await open(() => clock.now);
      try {
        await check(store, clock);
      } finally {
        await store.close();
      }
    };
    test({ name: `${name} (${kind})`, ignore, fn });
  }
}

test("a search reads about ten megabytes for one page, and the next page continues", async () => {
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

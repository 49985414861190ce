import { assertEquals } from "@std/assert";
import { type Retention, startRetention } from "../../../eval/run/manager/retention.ts";
import type { RunStore } from "../../../eval/store/store.ts";
import { createLogger } from "../../../shared/log.ts";
import { memoryStore } from "../../fakes/memory_store.ts";
import { evaluateRequest } from "../../fakes/stored_runs.ts";

const HOUR = 60 * 60 * 1000;
const DAY = 24 * HOUR;
const START = 1_000_000_000_000;

/** A store with a run that ended ten days ago and one of two days ago, and a clock to set. */
async function world() {
  const clock = { now: START, elapsed: 0 };
  const store = memoryStore({ now: () => clock.now });
  for (const testName of ["ten days old", "two days old"]) {
    const { id } = await store.createRun({ request: evaluateRequest(), testName });
    await store.setStatus(id, { status: "completed" });
    clock.now += 8 * DAY;
  }
  clock.now -= 6 * DAY;
  const lines: Record<string, unknown>[] = [];
  const log = createLogger({
    level: "info",
    format: "json",
    write: (line) => lines.push(JSON.parse(line)),
  });
  function start(options: { keepDays?: number; trustsClock?: boolean } = {}): Promise<Retention> {
    const now = () => clock.now;
    const elapsed = () => clock.elapsed;
    return startRetention({ store, log, keepDays: undefined, ...options, now, elapsed });
  }
  return { clock, store, lines, start };
}

const names = async (store: RunStore) =>
  (await store.listRuns({ limit: 9 })).runs.map(({ testName }) => testName);

Deno.test("runs are kept for EVAL_KEEP_DAYS days", async () => {
  const { store, start } = await world();
  (await start({ keepDays: 7 })).stop();
  assertEquals(await names(store), ["two days old"]);
});

Deno.test("runs are never deleted if EVAL_KEEP_DAYS is unset", async () => {
  const { store, start } = await world();
  (await start()).stop();
  assertEquals(await names(store), ["two days old", "ten days old"]);
});

Deno.test("nothing is deleted after a jump of the clock or at the next start, and the log says how many runs are concerned", async () => {
  const { clock, store, lines, start } = await world();
  (await start({ keepDays: 30 })).stop();
  clock.now += 5 * 365 * DAY;
  const { id } = await store.createRun({ request: evaluateRequest(), testName: "of the future" });
  await store.setStatus(id, { status: "completed" });
  for (let restart = 0; restart < 3; restart++) (await start({ keepDays: 30 })).stop();
  assertEquals((await names(store)).length, 3);
  assertEquals(lines.map(({ level, runs }) => [level, runs]), Array(3).fill(["warn", 2]));
});

Deno.test("a clock that runs evenly after its jump is trusted at the next sweep", async () => {
  const { clock, store, start } = await world();
  (await start({ keepDays: 7 })).stop();
  clock.now += 20 * DAY; // the service was off
  const retention = await start({ keepDays: 7 });
  retention.stop();
  assertEquals(await names(store), ["two days old"]);
  clock.now += 5 * DAY; // while an hour went by: it is still being set
  clock.elapsed += HOUR;
  await retention.sweep();
  assertEquals(await names(store), ["two days old"]);
  clock.now += HOUR;
  clock.elapsed += HOUR;
  await retention.sweep();
  assertEquals(await names(store), []);
});

Deno.test("EVAL_TRUST_CLOCK deletes at once", async () => {
  const { clock, store, start } = await world();
  (await start({ keepDays: 30 })).stop();
  clock.now += 60 * DAY;
  (await start({ keepDays: 30, trustsClock: true })).stop();
  assertEquals(await names(store), []);
});

Deno.test("a service that was off for two days deletes at once; after a longer time it waits", async () => {
  for (const [offMs, isDeleted] of [[2 * DAY, true], [2 * DAY + 1, false]] as const) {
    const { clock, store, start } = await world();
    (await start({ keepDays: 11 })).stop();
    clock.now += offMs; // the run of ten days ago is too old now
    (await start({ keepDays: 11 })).stop();
    assertEquals((await names(store)).includes("ten days old"), !isDeleted);
  }
});

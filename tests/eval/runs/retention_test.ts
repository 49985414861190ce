import { assertEquals } from "@std/assert";
import { startRetention } from "../../../eval/runs/retention.ts";
import { silentLogger } from "../../../shared/log.ts";
import { memoryStore } from "../../fakes/memory_store.ts";
import { evaluateRequest } from "../../fakes/stored_runs.ts";

const DAY = 24 * 60 * 60 * 1000;

async function keptAfter(keepDays: number | undefined): Promise<string[]> {
  let moment = 1_000_000_000_000;
  const now = () => moment;
  const store = memoryStore({ now });
  for (const testName of ["ten days old", "two days old"]) {
    const { id } = await store.createRun({ request: evaluateRequest(), testName });
    await store.setStatus(id, { status: "completed" });
    moment += 8 * DAY;
  }
  moment -= 6 * DAY;
  const retention = await startRetention({ store, log: silentLogger, keepDays, now });
  retention.stop();
  return (await store.listRuns({ limit: 9 })).runs.map(({ testName }) => testName);
}

Deno.test("runs are kept for as many days as EVAL_KEEP_DAYS says", async () => {
  assertEquals(await keptAfter(7), ["two days old"]);
});

Deno.test("runs are kept for ever where nobody says how long", async () => {
  assertEquals(await keptAfter(undefined), ["two days old", "ten days old"]);
});

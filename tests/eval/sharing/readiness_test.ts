import { assertEquals } from "@std/assert";
import { EvalConfig } from "../../../eval/config.ts";
import { checkQueue, describeLag, readJobFigures } from "../../../eval/sharing/readiness.ts";
import { ConfigError, parseConfig } from "../../../shared/config/config.ts";
import { createMetrics } from "../../../shared/ops/metrics.ts";

const counts = (lagSeconds: number) => () =>
  Promise.resolve({ waiting: 7, running: 3, lagSeconds });
const figures = { counts: counts(1), retried: 4, takenOver: 2, silentMs: 0 };

Deno.test("readiness names a queue that does not answer, and how long conversations wait", async () => {
  assertEquals(await checkQueue({ silentMs: 3_000 })(), undefined);
  assertEquals(
    await checkQueue({ silentMs: 12_400 })(),
    "the queue of conversations has not answered for 12 s",
  );
  assertEquals(await describeLag({ counts: counts(1) })(), undefined);
  assertEquals(
    await describeLag({ counts: counts(61.7) })(),
    "7 conversations are waiting, the oldest for 62 s",
  );
  assertEquals(await describeLag({ counts: () => Promise.reject(new Error("down")) })(), undefined);
});

Deno.test("figures of the queue are missing from the metrics while the database is down", async () => {
  let isDown = true;
  const read = () => isDown ? Promise.reject(new Error("down")) : figures.counts();
  const jobs = () => readJobFigures({ ...figures, counts: read });
  const metrics = createMetrics({ runs: () => 0, jobs });
  const names = async () =>
    [...(await metrics.text()).matchAll(/^assay_jobs_(\w+) /gm)].map(([, name]) => name);
  const own = ["retried_total", "taken_over_total"];
  const all = ["waiting", "running", "lag_seconds", ...own];
  assertEquals(await names(), own);
  isDown = false;
  assertEquals(await names(), all);
  isDown = true;
  assertEquals(await names(), own);
});

Deno.test("metrics count the conversations of all processes, and what this one took again", async () => {
  const read = async (counts: typeof figures.counts) => {
    const jobs = () => readJobFigures({ ...figures, counts });
    const text = await createMetrics({ runs: () => 0, jobs }).text();
    return Object.fromEntries(
      [...text.matchAll(/^assay_jobs_(\w+) (\S+)$/gm)].map(([, name, value]) => [name, value]),
    );
  };
  assertEquals(await read(figures.counts), {
    running: "3",
    lag_seconds: "1",
    retried_total: "4",
    taken_over_total: "2",
    waiting: "7",
  });
  const down = await read(() => Promise.reject(new Error("down")));
  assertEquals([down.retried_total, down.taken_over_total], ["4", "2"]);
});

Deno.test("an unusable address of a database is refused without being shown", () => {
  for (const EVAL_DATA of ["postgres://user:hidden@host", "postgres://user:hid/den@host:x/y"]) {
    try {
      parseConfig(EvalConfig, { EVAL_DATA });
      throw new Error("it was accepted");
    } catch (error) {
      assertEquals(error instanceof ConfigError, true);
      assertEquals((error as Error).message.includes("hid"), false);
    }
  }
});

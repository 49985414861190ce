import { assert, assertEquals } from "@std/assert";
import { digestBatch } from "../../../eval/store/run_record.ts";
import type { RunCursor } from "../../../eval/store/list_query.ts";
import type { RunPage } from "../../../eval/store/store.ts";
import { evaluateRequest, storedTurn } from "../../fakes/stored_runs.ts";
import { newRun, type StoreCase } from "./store_case.ts";

/** What every kind of store does with runs, beside their turns. */
export const runCases: Record<string, StoreCase> = {
  "a run is read back as it was stored, with the caller's own fields": async (store, clock) => {
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
      datasetName: null,
      batchDigest: digestBatch(request.test_batch),
      gate: null,
      group: null,
      request,
    });
  },

  "a run does not end before it began, also if the clock is set back": async (store, clock) => {
    const id = await newRun(store);
    const began = clock.now;
    clock.now -= 3_600_000;
    await store.setStatus(id, { status: "completed" });
    assertEquals((await store.getRecord(id))?.finishedAt, began);
  },

  "a run that was not stored is not found": async (store) => {
    assertEquals(await store.getRun("none"), undefined);
    assertEquals(await store.getRecord("none"), undefined);
  },

  "a run is read without its request, and a list cuts long names": async (store) => {
    const testName = "long name ".repeat(1000);
    const { id } = await store.createRun({ request: evaluateRequest(), testName });
    const { request: _, ...record } = (await store.getRun(id))!;
    assertEquals(await store.getRecord(id), record);
    const [listed] = (await store.listRuns({ limit: 1 })).runs;
    assertEquals(listed?.testName, `${testName.slice(0, 1000)}…`);
    assertEquals((await store.listRuns({ limit: 1, testName })).runs.length, 1);
  },

  "names with U+0000 and lone surrogates are stored and found": async (store) => {
    const testName = "a\0b\ud800c";
    const { id } = await store.createRun({ request: evaluateRequest(), testName });
    const found = await store.listRuns({ limit: 9, testName });
    assertEquals(found.runs.map((run) => run.id), [id]);
  },

  "runs are listed newest first, in pages, each run once": async (store) => {
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
  },

  "runs are listed by test, by model and by status": async (store) => {
    const a = await newRun(store, { test_name: "a" });
    const b = await newRun(store, { test_name: "b", model_id: "other/model" });
    await store.setStatus(b, { status: "completed" });
    const list = async (filter: object) =>
      (await store.listRuns({ limit: 10, ...filter })).runs.map((run) => run.id);
    assertEquals(await list({ testName: "a" }), [a]);
    assertEquals(await list({ modelId: "other/model" }), [b]);
    assertEquals(await list({ status: "completed" }), [b]);
    assertEquals(await list({ status: "running", testName: "b" }), []);
  },

  "an ended run has its end time, and an unfinished run is listed as unfinished": async (
    store,
    clock,
  ) => {
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

  "a status is set only from the statuses that are named, and the one that holds is returned":
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

  "a run keeps the outcome of its gate, and the digest of its batch is the same for the same batch":
    async (store) => {
      const [first, second] = [await newRun(store), await newRun(store)];
      await store.setGate(first, "failed");
      const { runs } = await store.listRuns({ limit: 2 });
      assertEquals(runs.map(({ id, gate }) => [id, gate]), [[second, null], [first, "failed"]]);
      assertEquals(new Set(runs.map(({ batchDigest }) => batchDigest)).size, 1);
      const other = await newRun(store, { turns: 5 });
      assert((await store.getRecord(other))?.batchDigest !== runs[0]?.batchDigest);
    },
};

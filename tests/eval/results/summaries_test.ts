import { assertEquals } from "@std/assert";
import { createSummaries } from "../../../eval/results/summaries.ts";
import { memoryStore } from "../../fakes/memory_store.ts";
import { evaluateRequest, storedTurn } from "../../fakes/stored_runs.ts";

Deno.test("a run that ends while it is being summarised is summarised again, with all its turns", async () => {
  const store = memoryStore();
  const request = evaluateRequest({ turns: 2 });
  const { id } = await store.createRun({ request, testName: "t" });
  await store.recordTurn(id, storedTurn([0, 0, 0]));
  const gate = Promise.withResolvers<void>();
  const isRead = Promise.withResolvers<void>();
  let reads = 0;
  const summaries = createSummaries({
    ...store,
    async *turnPages(runId) {
      const pages = await Array.fromAsync(store.turnPages(runId));
      if (reads++ === 0) {
        isRead.resolve();
        await gate.promise;
      }
      yield* pages;
    },
  });
  const early = summaries.summary((await store.getRun(id))!);
  await isRead.promise;
  await store.recordTurn(id, storedTurn([0, 0, 1]));
  await store.setStatus(id, { status: "completed" });
  const late = summaries.summary((await store.getRun(id))!);
  gate.resolve();
  assertEquals([(await early).outcomes.passed, (await late).outcomes.passed], [1, 2]);
});

Deno.test("a run is read once for the headlines of all lists that wait for it", async () => {
  const store = memoryStore();
  const { id } = await store.createRun({ request: evaluateRequest(), testName: "t" });
  await store.recordTurn(id, storedTurn([0, 0, 0]));
  await store.setStatus(id, { status: "completed" });
  const record = (await store.getRecord(id))!;
  const gate = Promise.withResolvers<void>();
  let reads = 0;
  const summaries = createSummaries({
    ...store,
    async getRun(id) {
      reads++;
      await gate.promise;
      return await store.getRun(id);
    },
  }, { patienceMs: 0 });
  const empty = await Promise.all([summaries.headlines([record]), summaries.headlines([record])]);
  assertEquals(empty.map(({ size }) => size), [0, 0]);
  assertEquals(reads, 1);
  gate.resolve();
  await summaries.summary((await store.getRun(id))!);
  assertEquals((await summaries.headlines([record])).get(id)?.outcomes.passed, 1);
});

Deno.test("a run that lacks a turn is read once for lists, and again after a new end", async () => {
  const store = memoryStore();
  const request = evaluateRequest({ turns: 2 });
  const { id } = await store.createRun({ request, testName: "t" });
  await store.recordTurn(id, storedTurn([0, 0, 0]));
  const tally = { done: 2, failed: 0, missing: 0, scored: 2, mean: 1, lastSeq: 2 };
  await store.setStatus(id, { status: "completed", tally });
  let reads = 0;
  const summaries = createSummaries({
    ...store,
    getRun(id) {
      reads++;
      return store.getRun(id);
    },
  });
  const record = (await store.getRecord(id))!;
  assertEquals((await summaries.headlines([record])).size, 0);
  assertEquals((await summaries.headlines([record])).size, 0);
  assertEquals(reads, 1);
  await summaries.headlines([{ ...record, finishedAt: record.finishedAt! + 1 }]);
  assertEquals(reads, 2);
});

Deno.test("a scenario with a turn that cannot pass is below the threshold, whatever its mean", async () => {
  const store = memoryStore();
  const { id } = await store.createRun({
    request: evaluateRequest({ scenarios: 3 }),
    testName: "t",
  });
  const check_results = [{
    name: "c",
    type: "regex",
    weight: 1,
    required: true,
    value: 0 as const,
  }];
  await store.recordTurn(id, storedTurn([0, 0, 0], { scores: { overall: 1 }, check_results }));
  await store.recordTurn(id, storedTurn([1, 0, 0], { scores: { overall: 1, tools: 0 } }));
  await store.recordTurn(id, storedTurn([2, 0, 0], { scores: { overall: 1 } }));
  const { scenarios } = await createSummaries(store).summary((await store.getRun(id))!);
  assertEquals([scenarios.passed, scenarios.below], [1, 2]);
});

Deno.test("a scenario whose required check or tool calls are not known has no standing, however good its scores", async () => {
  const store = memoryStore();
  const { id } = await store.createRun({
    request: evaluateRequest({ scenarios: 3 }),
    testName: "t",
  });
  const check = { name: "c", type: "judge", weight: 1, reason: "judge_unavailable" };
  const open = {
    scores: { overall: null },
    missing_scores: { checks: "c", overall: "without checks" },
    overall_bounds: [0.9, 1] as [number, number],
  };
  const checked = (required: boolean) => ({
    ...open,
    check_results: [{ ...check, required, value: null }],
  });
  await store.recordTurn(id, storedTurn([0, 0, 0], checked(true)));
  await store.recordTurn(id, storedTurn([1, 0, 0], checked(false)));
  await store.recordTurn(
    id,
    storedTurn([2, 0, 0], { ...open, missing_scores: { tools: "not reported", overall: "" } }),
  );
  const { scenarios, pass_rate, pass_rate_missing } = await createSummaries(store)
    .summary((await store.getRun(id))!);
  assertEquals([scenarios.passed, scenarios.below, scenarios.missing], [1, 0, 2]);
  assertEquals([pass_rate?.bounds, pass_rate_missing], [[1 / 3, 1], 2]);
});

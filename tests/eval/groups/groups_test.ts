import { assertEquals } from "@std/assert";
import { createGroups } from "../../../eval/groups/groups.ts";
import type { RunSummary } from "../../../eval/results/run_summary.ts";
import { restingProgress, viewRun } from "../../../eval/run/events/view.ts";
import type { RunRecord } from "../../../eval/store/runs/run_record.ts";
import { memoryStore } from "../../fakes/memory_store.ts";
import { evaluateRequest } from "../../fakes/stored_runs.ts";

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
  const groups = createGroups({
    store,
    view,
    async summarise() { // which takes its time
      await store.setStatus(b, { status: "completed" });
      return { statistics: {}, usage: { input_tokens: 0, output_tokens: 0 } } as RunSummary;
    },
  });
  const { status, models, pairs, best } = await groups.report(created.id);
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
  const groups = createGroups({
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
  await groups.report(created.id, { withPairs: false });
  assertEquals(described, await store.groupRuns(created.id));
  assertEquals(described.map(({ status }) => status), ["completed", "completed"]);
});

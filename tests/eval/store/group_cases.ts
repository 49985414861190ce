import { assertEquals } from "@std/assert";
import type { NewGroup, RunFilter, RunStore } from "../../../eval/store/store.ts";
import { evaluateRequest, failure, storedTurn } from "../../fakes/stored_runs.ts";
import { newRun, type StoreCase } from "./store_case.ts";

function groupOf(names: string[], fields: Partial<NewGroup> = {}): NewGroup {
  return {
    runs: names.map((name) => ({
      request: evaluateRequest({ model_id: `acme/${name}` }),
      testName: "t",
      name,
    })),
    ...fields,
  };
}

async function newGroup(store: RunStore, names: string[]) {
  const created = await store.createGroup(groupOf(names));
  if (created.outcome !== "created") throw new Error(created.outcome);
  return created;
}

/** What every kind of store does with groups. */
export const groupCases: Record<string, StoreCase> = {
  "the runs of a group are stored together, in the order of its models": async (store) => {
    await newRun(store);
    const { id, runs } = await newGroup(store, ["b", "a"]);
    const found = await store.groupRuns(id);
    assertEquals(found.map((run) => run.id), runs.map((run) => run.id));
    assertEquals(found.map(({ group }) => group), [
      { id, index: 0, name: "b" },
      { id, index: 1, name: "a" },
    ]);
    assertEquals(found.map(({ modelId, status }) => [modelId, status]), [
      ["acme/b", "running"],
      ["acme/a", "running"],
    ]);
    assertEquals((await store.getRun(runs[1]!.id))?.group, { id, index: 1, name: "a" });
    assertEquals((await store.unfinishedRuns()).length, 3);
  },

  "runs are listed by their group": async (store, clock) => {
    await newGroup(store, ["a"]);
    await newRun(store);
    clock.now += 1;
    const second = await newGroup(store, ["a", "b"]);
    const { runs } = await store.listRuns({ groupId: second.id, limit: 5 });
    assertEquals(runs.map(({ modelId }) => modelId), ["acme/b", "acme/a"]);
    assertEquals(await store.groupRuns("none"), []);
  },

  "runs are found and sorted by what their group calls the model": async (store) => {
    const alone = await newRun(store, { model_id: "c/m" });
    const runs = groupOf(["d", "a"]).runs.map((run) => ({ ...run, name: `${run.name}-Tuned` }));
    const { id } = await store.createGroup({ runs });
    const [d, a] = await store.groupRuns(id);
    const list = async (filter: Partial<RunFilter>) =>
      (await store.listRuns({ limit: 9, ...filter })).runs.map(({ id }) => id);
    assertEquals(await list({ text: "D-tuned" }), [d!.id]);
    assertEquals(await list({ text: "acme/d" }), [d!.id]);
    const sort = { by: "model_id", isDescending: false } as const;
    assertEquals(await list({ sort }), [a!.id, alone, d!.id]);
  },

  "a retry takes the place of its run in the group": async (store) => {
    const { id, runs: [a, b] } = await newGroup(store, ["a", "b"]);
    await store.recordTurn(a!.id, storedTurn([0, 0, 0], { error: failure }));
    await store.setStatus(a!.id, { status: "completed" });
    const { request, testName } = a!;
    const retry = await store.createRun({ request, testName, parentId: a!.id });
    assertEquals((await store.groupRuns(id)).map((run) => run.id), [retry.id, b!.id]);
    assertEquals((await store.listRuns({ groupId: id, limit: 5 })).runs.length, 3);
    await store.deleteRun(retry.id);
    assertEquals((await store.groupRuns(id)).map((run) => run.id), [a!.id, b!.id]);
  },

  "a key stands for its group until the last run is deleted": async (store) => {
    const idempotency = { caller: "", key: "k", bodyHash: "h" };
    const create = (bodyHash = "h") =>
      store.createGroup(groupOf(["a", "b"], { idempotency: { ...idempotency, bodyHash } }));
    const [first, again] = await Promise.all([create(), create()]);
    assertEquals([first.outcome, again.outcome].toSorted(), ["created", "known"]);
    assertEquals(again.id, first.id);
    assertEquals((await create("other")).outcome, "mismatch");
    const [a, b] = await store.groupRuns(first.id);
    await store.deleteRun(a!.id);
    assertEquals(await store.findByKey(idempotency), { outcome: "known", id: first.id });
    await store.deleteRun(b!.id);
    assertEquals(await store.findByKey(idempotency), undefined);
  },
};

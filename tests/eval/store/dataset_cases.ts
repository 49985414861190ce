import { assertEquals, assertRejects } from "@std/assert";
import { digestBatch } from "../../../eval/store/run_record.ts";
import type { RunStore } from "../../../eval/store/store.ts";
import type { Scenario } from "../../../eval/test/scenario.ts";
import { evaluateRequest } from "../../fakes/stored_runs.ts";
import type { StoreCase } from "./store_case.ts";

async function* each(scenarios: Scenario[]): AsyncGenerator<Scenario> {
  yield* scenarios;
}

const batchOf = (scenarios: number, turns = 1) => evaluateRequest({ scenarios, turns }).test_batch;

async function textOf(store: RunStore, name: string): Promise<string> {
  const version = await store.latestVersion(name);
  return (await Array.fromAsync(store.scenarioLines(version!))).join("");
}

const linesOf = (batch: Scenario[]) => batch.map((one) => `${JSON.stringify(one)}\n`).join("");

/** What every kind of store does with datasets; the names are sentences. */
export const datasetCases: Record<string, StoreCase> = {
  "a dataset is read back as it was written, and its version is the digest of a batch": async (
    store,
    clock,
  ) => {
    const batch = batchOf(3, 2);
    batch[1]!.description = `é \u0000 \n ${"long ".repeat(50_000)}`;
    const saved = await store.saveDataset("support", each(batch));
    const expected = {
      name: "support",
      version: digestBatch(batch),
      createdAt: clock.now,
      scenarios: 3,
      turns: 6,
      bytes: new TextEncoder().encode(linesOf(batch)).length,
    };
    assertEquals(saved, { ...expected, created: true });
    assertEquals(await textOf(store, "support"), linesOf(batch));
    assertEquals(await store.latestVersion("support"), expected);
    assertEquals(await store.latestVersion("other"), undefined);
  },

  "a dataset keeps its tags over versions, and what each version was checked against until it is deleted":
    async (store, clock) => {
      assertEquals(await store.tagDataset("support", ["held-out"]), false);
      const { version } = await store.saveDataset("support", each(batchOf(1)));
      assertEquals(await store.tagDataset("support", ["held-out", "mine"]), true);
      const later = await store.saveDataset("support", each(batchOf(2)));
      assertEquals(await store.datasetTags("support"), ["held-out", "mine"]);
      const check = { digest: "d", file: "train.jsonl", rows: 7 };
      await store.saveLeakCheck(version, { ...check, found: { word_for_word: [0], near: [] } });
      const again = { ...check, found: { word_for_word: [], near: [0] } };
      await store.saveLeakCheck(version, again);
      assertEquals(await store.leakChecks(version), [{ ...again, checkedAt: clock.now }]);
      assertEquals(await store.leakChecks(later.version), []);
      await store.deleteDataset("support", version);
      assertEquals(await store.leakChecks(version), []);
    },

  "writing the same content again changes nothing, and an old content is the latest again": async (
    store,
    clock,
  ) => {
    const first = await store.saveDataset("support", each(batchOf(1)));
    clock.now += 1_000;
    const again = await store.saveDataset("support", each(batchOf(1)));
    assertEquals(again, { ...first, created: false });
    const [entry] = await store.listDatasets({ limit: 10 });
    assertEquals(entry!.updatedAt, clock.now - 1_000);
    const second = await store.saveDataset("support", each(batchOf(2)));
    assertEquals((await store.latestVersion("support"))!.version, second.version);
    await store.saveDataset("support", each(batchOf(1)));
    assertEquals((await store.latestVersion("support"))!.version, first.version);
    const versions = await store.datasetVersions("support", 10);
    assertEquals(versions.map(({ version }) => version), [second.version, first.version]);
    assertEquals(await textOf(store, "support"), linesOf(batchOf(1)));
  },

  "a version is found by its first characters": async (store) => {
    const { created: _, ...saved } = await store.saveDataset("support", each(batchOf(1)));
    await store.saveDataset("support", each(batchOf(2)));
    assertEquals(await store.findVersions("support", saved.version.slice(0, 8)), [saved]);
    assertEquals(await store.findVersions("support", saved.version), [saved]);
    assertEquals(await store.findVersions("support", "no such"), []);
    assertEquals((await store.findVersions("support", "")).length, 2);
  },

  "an upload that fails leaves nothing": async (store) => {
    async function* failing() {
      yield* batchOf(200, 20);
      await Promise.resolve();
      throw new Error("line 201");
    }
    await assertRejects(() => store.saveDataset("support", failing()), Error, "line 201");
    assertEquals(await store.listDatasets({ limit: 10 }), []);
  },

  "datasets written at the same time are all there, whole": async (store) => {
    const sizes = [1, 2, 3, 2, 1, 3];
    const saved = await Promise.all(
      sizes.map((size) => store.saveDataset("support", each(batchOf(size)))),
    );
    assertEquals(saved.filter(({ created }) => created).length, 3);
    const versions = await store.datasetVersions("support", 10);
    assertEquals(versions.map(({ scenarios }) => scenarios).sort(), [1, 2, 3]);
    for (const version of versions) {
      const text = (await Array.fromAsync(store.scenarioLines(version))).join("");
      assertEquals(text, linesOf(batchOf(version.scenarios)));
    }
  },

  "datasets are listed by name, page by page": async (store) => {
    for (const name of ["b", "a", "c"]) await store.saveDataset(name, each(batchOf(1)));
    await store.saveDataset("b", each(batchOf(2)));
    const page = await store.listDatasets({ limit: 2 });
    assertEquals(page.map(({ name, versions, scenarios }) => [name, versions, scenarios]), [
      ["a", 1, 1],
      ["b", 2, 2],
    ]);
    const next = await store.listDatasets({ after: "b", limit: 2 });
    assertEquals(next.map(({ name }) => name), ["c"]);
  },

  "a deleted version is no longer read, and the newest that is left is the latest": async (
    store,
  ) => {
    const first = await store.saveDataset("support", each(batchOf(1)));
    const second = await store.saveDataset("support", each(batchOf(2)));
    assertEquals(await store.deleteDataset("support", second.version), true);
    assertEquals(await store.deleteDataset("support", second.version), false);
    assertEquals((await store.latestVersion("support"))!.version, first.version);
    await assertRejects(() => Array.fromAsync(store.scenarioLines(second)), Error, "cannot read");
    assertEquals(await store.deleteDataset("support"), true);
    assertEquals(await store.deleteDataset("support"), false);
    assertEquals(await store.listDatasets({ limit: 10 }), []);
  },
};

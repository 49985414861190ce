import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { ConfigError } from "../../../shared/config/config.ts";
import { AppError } from "../../../shared/errors.ts";
import { openStore } from "../../../eval/store/open_store.ts";
import { evaluateRequest, storedTurn } from "../../fakes/stored_runs.ts";
import { withFolder } from "../../fakes/with_folder.ts";

Deno.test("a disk without room for the tables is refused with a clear message", () =>
  withFolder(async (folder) => {
    const path = `${folder}/eval.db`;
    const error = await assertRejects(() => openStore({ path, maxPages: 2 }), ConfigError);
    assertStringIncludes(error.message, "the disk is full or cannot be written");
  }));

Deno.test("a run is refused with a clear message on a full disk, and nothing of it is stored", () =>
  withFolder(async (folder) => {
    const store = await openStore({ path: `${folder}/eval.db`, maxPages: 40 });
    const small = await store.createRun({ request: evaluateRequest(), testName: "small" });
    const request = evaluateRequest({ scenarios: 5_000 });
    const error = await assertRejects(
      () => store.createRun({ request, testName: "large", parentId: small.id }),
      AppError,
    );
    assertEquals([error.status, error.code], [507, "storage_full"]);
    const { runs } = await store.listRuns({ limit: 10 });
    assertEquals(runs.map((run) => run.testName), ["small"]);
    await store.close();
  }));

Deno.test("a dataset is refused on a full disk, and the message does not speak of a run", () =>
  withFolder(async (folder) => {
    const store = await openStore({ path: `${folder}/eval.db`, maxPages: 40 });
    const scenarios = ReadableStream.from(evaluateRequest({ scenarios: 5_000 }).test_batch);
    const error = await assertRejects(() => store.saveDataset("support", scenarios), AppError);
    assertEquals([error.status, error.code], [507, "storage_full"]);
    assertStringIncludes(error.message, "cannot write to the database: the disk");
    await store.close();
  }));

Deno.test("turns are refused on a full disk, and those stored before stay", () =>
  withFolder(async (folder) => {
    const path = `${folder}/eval.db`;
    const store = await openStore({ path, maxPages: 60 });
    const { id } = await store.createRun({ request: evaluateRequest(), testName: "t" });
    let stored = 0;
    const error = await assertRejects(async () => {
      while (true) {
        await store.recordTurn(id, storedTurn([stored, 0, 0], { agent_reply: "x".repeat(3000) }));
        stored++;
      }
    }, AppError);
    assertEquals(error.code, "storage_full");
    await store.close();
    const later = await openStore({ path });
    assertEquals((await Array.fromAsync(later.turns(id))).length, stored);
    await later.recordTurn(id, storedTurn([stored, 0, 0]));
    assertEquals((await later.tally(id)).done, stored + 1);
    await later.close();
  }));

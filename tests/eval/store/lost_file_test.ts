import { assertEquals, assertRejects } from "@std/assert";
import { AppError } from "../../../shared/errors.ts";
import { openStore } from "../../../eval/store/open_store.ts";
import type { RunStore } from "../../../eval/store/store.ts";
import { evaluateRequest, storedTurn } from "../../fakes/stored_runs.ts";
import { withFolder } from "../../fakes/with_folder.ts";

const POSITION = { scenario: 0, attempt: 0, turn: 0 };
const GRADE = { value: 1, label: null, comment: null, author: "ann" };

async function* scenarios() {
  yield { id: "s", interactions: [{ id: "1", user_message: "q" }] } as never;
}

/** Everything that a caller may have stored or deleted. */
function changes(store: RunStore, id: string): Record<string, () => Promise<unknown>> {
  const run = { request: evaluateRequest(), testName: "t" };
  return {
    createRun: () => store.createRun(run),
    createGroup: () => store.createGroup({ runs: [{ ...run, name: "a" }] }),
    saveDataset: () => store.saveDataset("d", scenarios()),
    saveGrade: () => store.saveGrade(id, POSITION, GRADE),
    withdrawGrade: () => store.withdrawGrade(id, { ...POSITION, author: "ann" }),
    setTag: () => store.setTag("main", id),
    describeRun: () => store.describeRun(id, { tags: ["main"] }),
    deleteDataset: () => store.deleteDataset("d"),
    deleteRun: () => store.deleteRun(id),
  };
}

Deno.test("nothing new is stored in a file that was deleted or replaced, and what is there can be read", () =>
  withFolder(async (folder) => {
    const path = `${folder}/eval.db`;
    const moved = `${folder}/moved.db`;
    const store = await openStore({ path });
    const { id } = await store.createRun({ request: evaluateRequest(), testName: "t" });
    await store.recordTurn(id, storedTurn([0, 0, 0]));
    const all = changes(store, id);
    async function refuseAll(): Promise<void> {
      for (const [name, change] of Object.entries(all)) {
        const { status, code } = await assertRejects(change, AppError, "deleted or replaced", name);
        assertEquals([status, code], [503, "storage_unavailable"], name);
      }
    }

    await Deno.rename(path, moved);
    await refuseAll();
    await Deno.copyFile(moved, path);
    await refuseAll();
    assertEquals((await store.listRuns({ limit: 10 })).runs.map((run) => run.id), [id]);

    await Deno.rename(moved, path);
    for (const change of Object.values(all)) await change();
    await store.close();
  }));

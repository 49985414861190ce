import { assertEquals } from "@std/assert";
import { openStore } from "../../../eval/store/open_store.ts";
import { evaluateRequest } from "../../fakes/stored_runs.ts";
import { withFolder } from "../../fakes/with_folder.ts";

Deno.test("a retry takes the place of its run, also if the clock was set back before a restart", () =>
  withFolder(async (folder) => {
    const path = `${folder}/eval.db`;
    const runs = ["a", "b"].map((name) => ({ request: evaluateRequest(), testName: "t", name }));
    const before = await openStore({ path });
    const group = await before.createGroup({ runs });
    if (group.outcome !== "created") throw new Error(group.outcome);
    const [a, b] = group.runs;
    await before.close();

    await using after = await openStore({ path, now: () => Date.now() - 60_000 });
    const { request, testName, id: parentId } = a!;
    const retry = await after.createRun({ request, testName, parentId });
    const members = await after.groupRuns(group.id);
    assertEquals(members.map(({ id }) => id), [retry.id, b!.id]);
  }));

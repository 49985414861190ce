import { assertEquals, assertStringIncludes } from "@std/assert";
import { openReader, openStore } from "../../../eval/store/open_store.ts";

/** A database that the release 0.1.0 wrote: a finished run, an unfinished one, an interrupted one. */
const RELEASED = new URL("./data/release_0_1_0.db", import.meta.url);

async function withReleased(test: (path: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    await Deno.copyFile(RELEASED, `${folder}/eval.db`);
    await test(`${folder}/eval.db`);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("a database of the release before is opened, migrated, read and continued", () =>
  withReleased(async (path) => {
    const store = await openStore({ path });
    const { runs } = await store.listRuns({ limit: 10 });
    assertEquals(runs.map(({ testName, status }) => [testName, status]), [
      ["with a query", "interrupted"],
      ["unfinished", "running"],
      ["release 0.1.0", "completed"],
    ]);
    const [, unfinished, finished] = runs;
    assertEquals(await store.tally(finished!.id), finished!.tally);
    assertEquals((await Array.fromAsync(store.turns(finished!.id))).length, 8);
    const position = { scenario: 0, attempt: 0 };
    const [first] = await store.attemptTurns(unfinished!.id, position);
    await store.recordTurn(unfinished!.id, { ...first!, turn: 1 });
    const [event] = await store.turnsAfter(unfinished!.id, { seq: 1, limit: 5 });
    assertEquals([event?.seq, event?.turn], [2, 1]);
    assertEquals(await store.findByKey({ caller: "", key: "k1", bodyHash: "h1" }), undefined);
    await store.close();
  }));

Deno.test("a reader of a database of the release before updates its tables and reads everything", () =>
  withReleased(async (path) => {
    const reader = await openReader({ path });
    const { runs } = await reader.listRuns({ limit: 10 });
    assertEquals(runs.length, 3);
    const { id } = runs.find(({ status }) => status === "completed")!;
    assertEquals((await Array.fromAsync(reader.turns(id))).length, 8);
    assertEquals(await Array.fromAsync(reader.grades(id)), []);
    assertEquals(await reader.listGroups({ limit: 10 }), []);
    assertEquals(await reader.listDatasets({ limit: 10 }), []);
    await reader.close();
  }));

Deno.test("the log says that an earlier version is being updated, and only then", () =>
  withReleased(async (path) => {
    const lines: string[] = [];
    const log = { info: (line: string) => void lines.push(line) };
    await (await openReader({ path, log })).close();
    assertEquals(lines.length, 1);
    assertStringIncludes(lines[0]!, "EVAL_DATA is of an earlier version");
    await (await openReader({ path, log })).close();
    await (await openStore({ path, log })).close();
    await (await openStore({ path: `${path}.new`, log })).close();
    assertEquals(lines.length, 1);
  }));

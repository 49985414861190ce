import { assertEquals, assertRejects } from "@std/assert";
import { backUpDatabase } from "../../../eval/store/sqlite/backup.ts";
import { openStore } from "../../../eval/store/open_store.ts";
import { withFolder } from "../../fakes/with_folder.ts";

async function namesIn(folder: string): Promise<string[]> {
  return (await Array.fromAsync(Deno.readDir(folder))).map(({ name }) => name).sort();
}

Deno.test("a backup has its name once it is complete, so a process that is killed leaves none", () =>
  withFolder(async (folder) => {
    const path = `${folder}/eval.db`;
    await (await openStore({ path })).close();
    const target = `${folder}/copies/copy.db`;
    await Deno.mkdir(`${folder}/copies`);
    const copying = backUpDatabase({ path, target });
    const begun = await namesIn(`${folder}/copies`);
    assertEquals(begun.filter((name) => name.endsWith(".db")), [], "it is not complete yet");
    await copying;
    assertEquals(await namesIn(`${folder}/copies`), ["copy.db"]);
  }));

Deno.test("a file that takes the name of a backup meanwhile is kept, and the copy removed", () =>
  withFolder(async (folder) => {
    const path = `${folder}/eval.db`;
    await (await openStore({ path })).close();
    await Deno.mkdir(`${folder}/copies`);
    const target = `${folder}/copies/copy.db`;
    const copying = backUpDatabase({ path, target });
    Deno.writeTextFileSync(target, "kept");
    await assertRejects(() => copying, Error, "there is a file of that name");
    assertEquals(await namesIn(`${folder}/copies`), ["copy.db"]);
    assertEquals(await Deno.readTextFile(target), "kept");
  }));

Deno.test("a backup says why a database cannot be read, as the other commands do", () =>
  withFolder(async (folder) => {
    await Deno.writeTextFile(`${folder}/letter.db`, "this is a letter. ".repeat(100));
    await Deno.writeTextFile(`${folder}/empty.db`, "");
    const cases = [
      [folder, "it is a folder"],
      [`${folder}/none.db`, "there is no such file"],
      [`${folder}/letter.db`, "it is not a database"],
      [`${folder}/empty.db`, "it has no runs"],
    ] as const;
    for (const [path, reason] of cases) {
      const copying = () => backUpDatabase({ path, target: `${folder}/copy.db` });
      await assertRejects(copying, Error, `cannot open EVAL_DATA=${path}: ${reason}`);
    }
    assertEquals(await namesIn(folder), ["empty.db", "letter.db"]);
  }));

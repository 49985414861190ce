import { assertEquals } from "@std/assert";
import { permissionFlags } from "../../../.ci/task_flags.ts";

const ROOT = new URL("../../../", import.meta.url);

/** Does what `eval/main.ts` does, and then tries to write. */
const SCRIPT = `
import { giveUpWriting } from "${new URL("eval/store/sqlite/sqlite_files.ts", ROOT)}";
import { openStore } from "${new URL("eval/store/open_store.ts", ROOT)}";
const store = await openStore({ path: Deno.args[0] });
await giveUpWriting();
const attempts = {
  "write a file": () => Deno.writeTextFileSync(Deno.args[1], "changed"),
  "delete the database": () => Deno.removeSync(Deno.args[0]),
  "start a program": () => new Deno.Command("true").outputSync(),
};
for (const [name, attempt] of Object.entries(attempts)) {
  try {
    attempt();
    console.log(name);
  } catch (error) {
    console.log(name + ": " + error.name);
  }
}
console.log("runs: " + (await store.listRuns({ limit: 1 })).runs.length);
await store.close();
`;

Deno.test("with the service's permissions only the database's worker can write files", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const script = `${folder}/script.ts`;
    await Deno.writeTextFile(script, SCRIPT);
    const { stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: [
        "run",
        "--no-prompt",
        "--no-check",
        `--config=${new URL("deno.json", ROOT).pathname}`,
        ...permissionFlags("eval"),
        script,
        `${folder}/data/eval.db`,
        script,
      ],
    }).output();
    const lines = new TextDecoder().decode(stdout).trim().split("\n");
    assertEquals(lines, [
      "write a file: NotCapable",
      "delete the database: NotCapable",
      "start a program: NotCapable",
      "runs: 0",
    ], new TextDecoder().decode(stderr));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

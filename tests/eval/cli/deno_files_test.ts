import { assertEquals, assertRejects } from "@std/assert";
import { createFileReader } from "../../../eval/cli/batch.ts";
import { UsageError } from "../../../eval/cli/command.ts";
import { readText, realPath, writeText } from "../../../eval/cli/process/deno_files.ts";

/** A folder that is gone at the end. */
async function withFolder(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    await work(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

const names = (folder: string) => [...Deno.readDirSync(folder)].map(({ name }) => name);

Deno.test("an existing file is replaced only by a complete one, and nothing is left beside it", () =>
  withFolder(async (folder) => {
    const path = `${folder}/out.json`;
    await Deno.writeTextFile(path, "old");
    async function* broken() {
      yield "a".repeat(100_000);
      await Promise.resolve();
      throw new RangeError("no more");
    }
    await assertRejects(() => writeText(path, broken()), RangeError, "no more");
    assertEquals([await Deno.readTextFile(path), names(folder)], ["old", ["out.json"]]);
    await writeText(path, ReadableStream.from(["n", "ew"]));
    assertEquals([await Deno.readTextFile(path), names(folder)], ["new", ["out.json"]]);
  }));

Deno.test("a file that is written again keeps its mode, and stays behind its link", () =>
  withFolder(async (folder) => {
    await Deno.writeTextFile(`${folder}/real.json`, "old", { mode: 0o600 });
    await Deno.symlink("real.json", `${folder}/link.json`);
    await writeText(`${folder}/link.json`, ReadableStream.from(["new"]));
    assertEquals(await Deno.readTextFile(`${folder}/real.json`), "new");
    assertEquals((await Deno.stat(`${folder}/real.json`)).mode! & 0o777, 0o600);
    assertEquals((await Deno.lstat(`${folder}/link.json`)).isSymlink, true);
  }));

Deno.test("a device is written as it is, and no file takes its place", async () => {
  await writeText("/dev/null", ReadableStream.from(["text"]));
  assertEquals((await Deno.lstat("/dev/null")).isCharDevice, true);
});

Deno.test("a file that the system refuses to open is an error of the user", async () => {
  const path = "a".repeat(5_000);
  await assertRejects(() => readText(path), UsageError, `cannot read ${path}: `);
});

Deno.test("a file that another one names is read only below the folder of that one, also behind links", () =>
  withFolder(async (folder) => {
    await Deno.mkdir(`${folder}/bot/more`, { recursive: true });
    await Deno.mkdir(`${folder}/bot-2`);
    for (const name of ["secret.json", "bot-2/c.txt", "bot/b.txt", "bot/more/a.txt"]) {
      await Deno.writeTextFile(`${folder}/${name}`, name);
    }
    await Deno.symlink("../secret.json", `${folder}/bot/outside.json`);
    await Deno.symlink("more/a.txt", `${folder}/bot/inside.txt`);
    await Deno.symlink("bot", `${folder}/link`);
    for (const config of ["bot/c.yaml", "link/c.yaml"]) {
      const read = createFileReader(`${folder}/${config}`, { readText, realPath });
      assertEquals(await read("b.txt"), "bot/b.txt");
      assertEquals(await read("inside.txt"), "bot/more/a.txt");
      assertEquals(await read(`${folder}/bot/more/a.txt`), "bot/more/a.txt");
      const outside = [`${folder}/secret.json`, "../secret.json", "outside.json", "../bot-2/c.txt"];
      for (const name of outside) {
        await assertRejects(() => read(name), UsageError, "; put it there");
      }
      await assertRejects(() => read("none.txt"), UsageError, "no such file or folder");
    }
  }));

Deno.test("a file that another one names is also read below the current folder, unless it is hidden", () =>
  withFolder(async (folder) => {
    await Deno.mkdir(`${folder}/prompts`);
    await Deno.mkdir(`${folder}/.docker`);
    await Deno.writeTextFile(`${folder}/.docker/config.json`, "a key");
    await Deno.mkdir(`${folder}/evals`);
    await Deno.writeTextFile(`${folder}/prompts/a.txt`, "a");
    const here = (path: string) => realPath(path === "." ? folder : path);
    const read = createFileReader(`${folder}/evals/c.yaml`, { readText, realPath: here });
    assertEquals(await read("../prompts/a.txt"), "a");
    await assertRejects(() => read("../.docker/config.json"), UsageError, "; put it there");
  }));

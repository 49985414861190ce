import { assertEquals } from "@std/assert";
import { ROOT } from "./fakes/source_files.ts";

Deno.test("tests/deno.json has everything of deno.json, in the same versions", async () => {
  const read = async (path: string) => JSON.parse(await Deno.readTextFile(new URL(path, ROOT)));
  const own = await read("deno.json");
  const tests = await read("tests/deno.json");
  const names = Object.keys(own.imports);
  const shared = Object.fromEntries(names.map((name) => [name, tests.imports[name]]));
  assertEquals(shared, own.imports);
  // Tests fetch everything first: of two copies of a package, a lazy cache may lack the second.
  assertEquals([...tests.unstable, "npm-lazy-caching"], own.unstable);
  const { types: _, ...options } = tests.compilerOptions;
  const { types: __, ...ownOptions } = own.compilerOptions;
  assertEquals(options, ownOptions);
});

Deno.test("whoever starts a service does not fetch npm:openai, an optional peer of a dependency", () => {
  const { npm } = JSON.parse(Deno.readTextFileSync(new URL("deno.lock", ROOT)));
  assertEquals(Object.keys(npm).filter((name) => name.startsWith("openai@")), []);
});

Deno.test("deno task dev starts all of its tasks, also on one processor", async () => {
  const { tasks } = JSON.parse(await Deno.readTextFile(new URL("deno.json", ROOT)));
  // Deno runs as many tasks at once as there are processors, unless it is told otherwise.
  const [, jobs] = /^DENO_JOBS=(\d+) deno task -q dev:all$/.exec(tasks.dev.command) ?? [];
  assertEquals(Number(jobs), tasks["dev:all"].dependencies.length);
});

Deno.test("deno task test leaves out the folders that tests/together runs, and the pages", async () => {
  const { tasks } = JSON.parse(await Deno.readTextFile(new URL("deno.json", ROOT)));
  const [, ignored = ""] = /'--ignore=([^']+)'/.exec(tasks.test.command) ?? [];
  const together = new URL("tests/together/", ROOT);
  const folders = [...Deno.readDirSync(together)].flatMap(({ name }) => {
    const text = Deno.readTextFileSync(new URL(name, together));
    const [, list = ""] = /importTests\(([^]*?)\)/.exec(text) ?? [];
    return [...list.matchAll(/"(.+?)"/g)].map((match) => `tests/${match[1]}`);
  });
  // Deno ignores a folder only by a pattern: by its path it would be run once more.
  const patterns = ["tests/pages", ...folders].map((folder) => `**/${folder}/**`);
  assertEquals(ignored.split(",").toSorted(), patterns.toSorted());
});

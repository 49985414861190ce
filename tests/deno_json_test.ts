import { assertEquals } from "@std/assert";
import { ROOT } from "./fakes/source_files.ts";
import { packagesOfTests, readPackages } from "./fakes/packages.ts";

Deno.test("a package that a service uses has its version in deno.json, and nowhere else", () => {
  const own = readPackages(new URL("deno.json", ROOT)).map(({ name }) => name);
  const twice = packagesOfTests().filter(({ name }) => own.includes(name))
    .filter(({ name, version }) => name !== "openai" || version.startsWith("7.")); // earlier majors
  assertEquals(twice, []);
});

Deno.test("a package of the tests has one version", () => {
  const versions = Map.groupBy(packagesOfTests(), ({ name }) => name);
  versions.delete("openai"); // its earlier majors are tested too
  const several = [...versions].filter(([, uses]) =>
    new Set(uses.map(({ version }) => version)).size > 1
  );
  assertEquals(several, []);
});

Deno.test("deno task dev starts all of its tasks, also on one processor", async () => {
  const { tasks } = JSON.parse(await Deno.readTextFile(new URL("deno.json", ROOT)));
  // By default Deno runs only as many tasks at once as there are processors.
  const [, jobs] = /^DENO_JOBS=(\d+) deno task -q dev:all$/.exec(tasks.dev.command) ?? [];
  assertEquals(Number(jobs), tasks["dev:all"].dependencies.length);
});

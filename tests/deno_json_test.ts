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

import { assert, assertEquals } from "@std/assert";
import { toSbom } from "../.ci/sbom.ts";

const lock = JSON.parse(Deno.readTextFileSync(new URL("../deno.lock", import.meta.url)));

Deno.test("the list of packages has each package of the lock once, with its checksum", () => {
  const { components } = toSbom(lock, "1.2.3");
  assertEquals(new Set(components.map(({ purl }) => purl)).size, components.length);
  const names = Object.keys(lock.npm).map((key) => key.slice(0, key.indexOf("@", 1)));
  assertEquals(new Set(components.map(({ name }) => name)), new Set(names));
  const zod = components.find(({ name }) => name === "zod");
  assert(zod?.purl.startsWith("pkg:npm/zod@"), JSON.stringify(zod));
  assertEquals(zod?.hashes[0]?.content.length, 128); // of SHA-512, as hexadecimal digits
});

Deno.test("every action of our workflows is pinned by its digest", () => {
  for (const name of ["ci.yml", "release.yml"]) {
    const text = Deno.readTextFileSync(new URL(`../.github/workflows/${name}`, import.meta.url));
    const used = [...text.matchAll(/uses: (.*)/g)].map((match) => match[1]!);
    assert(used.length > 0);
    assertEquals(used.filter((action) => !/@[\da-f]{40} # v\d/.test(action)), [], name);
  }
});

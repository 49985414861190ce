import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { startServiceProcess } from "./fakes/service_process.ts";

for (const name of ["agent", "eval"] as const) {
  Deno.test(`${name}: /llms.txt lists the documents, which are there as Markdown without a key`, async () => {
    await using service = await startServiceProcess(name, { environment: { API_KEYS: "k" } });
    const list = await fetch(`${service.url}/llms.txt`);
    assertEquals(list.headers.get("content-type"), "text/markdown; charset=utf-8");
    const text = await list.text();
    assert(text.startsWith(`# assay-${name}\n\n> `), text);
    const paths = [...text.matchAll(/\((\/docs\/.*\.md)\)/g)].map((match) => match[1]!);
    assert(paths.length > 5, text);
    for (const path of paths) {
      const document = await fetch(service.url + path);
      assertEquals(document.status, 200, path);
      const file = new URL(`..${path}`, import.meta.url);
      assertEquals(await document.text(), await Deno.readTextFile(file));
    }
    const none = await fetch(`${service.url}/docs/none.md`);
    assertEquals(none.status, 404);
    assertStringIncludes(await none.text(), "/llms.txt");
  });
}

import { assertEquals } from "@std/assert";
import { completion, startProviderDouble } from "./fakes/provider_double.ts";
import { startServiceProcess } from "./fakes/service_process.ts";

/** The packages whose files a process has loaded, by V8's coverage. */
async function readPackages(coverage: string): Promise<Set<string>> {
  const packages = new Set<string>();
  for await (const { name } of Deno.readDir(coverage)) {
    const { url } = JSON.parse(await Deno.readTextFile(`${coverage}/${name}`));
    const found = /\/npm\/[^/]+\/((?:@[^/]+\/)?[^/]+)\//.exec(url)?.[1];
    if (found) packages.add(found);
  }
  return packages;
}

Deno.test("an evaluation on SQLite loads nothing of PostgreSQL", async () => {
  const coverage = await Deno.makeTempDir();
  try {
    await using endpoint = await startProviderDouble(completion({ content: "Hello" }));
    await using service = await startServiceProcess("eval", { flags: [`--coverage=${coverage}`] });
    const response = await fetch(`${service.url}/evaluate`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({
        test_batch: {
          id: "s",
          interactions: [{ id: "1", user_message: "Hi", reference_reply: "Hello" }],
        },
        endpoint: endpoint.baseUrl,
        model_id: "m",
      }),
    });
    await response.body?.cancel();
    assertEquals(response.status, 200);
    service.kill("SIGTERM");
    await service.status;

    const packages = await readPackages(coverage);
    assertEquals(packages.has("kysely"), true, "the packages can be seen");
    const loaded = [...packages].filter((name) => /^pg\b|postgres/.test(name));
    assertEquals(loaded, []);
  } finally {
    await Deno.remove(coverage, { recursive: true });
  }
});

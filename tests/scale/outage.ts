import { assert, assertEquals } from "@std/assert";
import { postgresBin, startPostgres } from "../fakes/postgres_server.ts";
import { startCountingEndpoint } from "./counting_endpoint.ts";
import { awaitEnd, batchOf, startInstances, startRun } from "./instances.ts";
import { until } from "../fakes/until.ts";

Deno.test({
  name:
    "a database that hangs is 503 for callers, no endpoint is called, and all goes on afterwards",
  ignore: postgresBin === undefined,
  async fn() {
    await using server = await startPostgres();
    await using endpoint = startCountingEndpoint({ latencyMs: 50 });
    await using instances = await startInstances(2, {
      EVAL_DATA: await server.createDatabase(),
      EVAL_CONCURRENCY: "4",
    });
    const [first, second] = instances.all;
    const body = batchOf(200, { turns: 2, endpoint: endpoint.url });
    const id = await startRun(first!, body);
    await until(() => endpoint.total >= 50, { within: 120_000 });

    server.signal("SIGSTOP");
    const refused = await fetch(`${second!.url}/evaluate`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(batchOf(3, { turns: 1, endpoint: endpoint.url, name: "never" })),
    });
    const problem = await refused.json();
    assertEquals([refused.status, problem.code], [503, "storage_unavailable"], problem.detail);
    assert(Number(refused.headers.get("retry-after")) > 0);
    const ready = await fetch(`${second!.url}/readyz`);
    assertEquals(ready.status, 503);
    assert("store" in (await ready.json()).reasons);
    const before = endpoint.total;
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    assertEquals(endpoint.total, before, "calls were made that could not be stored");

    server.signal("SIGCONT");
    const end = await awaitEnd(() => instances.all, id);
    assertEquals([end.status, end.progress.done], ["completed", 400]);
    assert([...endpoint.calls.keys()].every((question) => !question.startsWith("never")));
  },
});

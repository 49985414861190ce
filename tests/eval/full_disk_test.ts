import { assertEquals } from "@std/assert";
import { completion, startProviderDouble } from "../fakes/provider_double.ts";
import { startServiceProcess } from "../fakes/service_process.ts";

/** A real full disk: a small file system in memory; mounting it needs a user namespace. */

const MOUNT = "mount -t tmpfs -o size=14m tmpfs";

async function canMount(): Promise<boolean> {
  const folder = await Deno.makeTempDir();
  try {
    const args = ["-rm", "sh", "-c", `${MOUNT} ${folder}`];
    return (await new Deno.Command("unshare", { args, stderr: "null" }).output()).success;
  } catch {
    return false;
  } finally {
    await Deno.remove(folder);
  }
}

Deno.test({
  name: "on a full disk the service is not ready; after a run is deleted, it is ready again",
  ignore: !await canMount(),
  async fn() {
    const folder = await Deno.makeTempDir();
    await using endpoint = await startProviderDouble(completion({ content: "x".repeat(50_000) }));
    await using service = await startServiceProcess("eval", {
      environment: { EVAL_DATA: `${folder}/eval.db`, EVAL_CONCURRENCY: "4" },
      limits: `exec unshare -rm sh -c '${MOUNT} ${folder} && exec "$0" "$@"' "$0" "$@"; :`,
    });
    const call = async (path: string, init: RequestInit = {}) => {
      const response = await fetch(service.url + path, init);
      const text = await response.text();
      return { status: response.status, body: text === "" ? undefined : JSON.parse(text) };
    };
    const evaluate = (attempts: number) =>
      call("/evaluate", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({
          test_batch: { id: "s", interactions: [{ id: "i", user_message: "Hi" }] },
          endpoint: endpoint.baseUrl,
          model_id: "m",
          attempts,
        }),
      });
    assertEquals((await call("/readyz")).status, 200);
    assertEquals((await evaluate(1000)).status, 507);
    const { body: { runs: [run] } } = await call("/runs");

    let ready = await call("/readyz");
    while (ready.status === 200) { // what was asked before is answered for two seconds
      await new Promise((resolve) => setTimeout(resolve, 50));
      ready = await call("/readyz");
    }
    assertEquals(ready.body.reasons.store, "the database cannot be written");
    let deleted = await call(`/runs/${run.run_id}`, { method: "DELETE" });
    while (deleted.status === 409) { // it tries to go on just now
      deleted = await call(`/runs/${run.run_id}`, { method: "DELETE" });
    }
    assertEquals(deleted.status, 204, JSON.stringify(deleted.body));
    assertEquals((await call(`/runs/${run.run_id}`)).status, 404);
    while (ready.status !== 200) {
      await new Promise((resolve) => setTimeout(resolve, 50));
      ready = await call("/readyz");
    }
    assertEquals(ready.body.reasons, {});
    await Deno.remove(folder);
  },
});

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { batch, evaluate, lastEvent, startEndpoint } from "../fakes/process_runs.ts";
import { completion, startProviderDouble } from "../fakes/provider_double.ts";
import { startServiceProcess } from "../fakes/service_process.ts";
import { withFolder } from "../fakes/with_folder.ts";

/** A real full disk: a small file system in memory; mounting it needs a user namespace. */

const mount = (folder: string, megabytes: number) =>
  `mount -t tmpfs -o size=${megabytes}m tmpfs ${folder}`;
const ignore = !await canMount();

async function canMount(): Promise<boolean> {
  const folder = await Deno.makeTempDir();
  try {
    const args = ["-rm", "sh", "-c", mount(folder, 14)];
    return (await new Deno.Command("unshare", { args, stderr: "null" }).output()).success;
  } catch {
    return false;
  } finally {
    await Deno.remove(folder);
  }
}

/** The service on a small disk, and an endpoint that answers `reply`. */
async function startOnSmallDisk({ megabytes, reply }: { megabytes: number; reply: string }) {
  const folder = await Deno.makeTempDir();
  const endpoint = await startProviderDouble(completion({ content: reply }));
  const service = await startServiceProcess("eval", {
    environment: { EVAL_DATA: `${folder}/eval.db`, EVAL_CONCURRENCY: "4" },
    limits: `exec unshare -rm sh -c '${mount(folder, megabytes)} && exec "$0" "$@"' "$0" "$@"; :`,
  });
  async function call(path: string, init: RequestInit = {}) {
    const response = await fetch(service.url + path, init);
    const text = await response.text();
    return { status: response.status, body: text === "" ? undefined : JSON.parse(text) };
  }
  return {
    call,
    evaluate: (attempts: number) =>
      call("/evaluate", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({
          test_batch: { id: "s", interactions: [{ id: "i", user_message: "Hi" }] },
          endpoint: endpoint.baseUrl,
          model_id: "m",
          attempts,
        }),
      }),
    async [Symbol.asyncDispose]() {
      await service[Symbol.asyncDispose]();
      await endpoint[Symbol.asyncDispose]();
      await Deno.remove(folder);
    },
  };
}

Deno.test({
  name: "on a full disk the service is not ready; after a run is deleted, it is ready again",
  ignore,
  async fn() {
    await using disk = await startOnSmallDisk({ megabytes: 14, reply: "x".repeat(50_000) });
    const { call, evaluate } = disk;
    assertEquals((await call("/readyz")).status, 200);
    assertEquals((await evaluate(1000)).status, 507);
    const { body: { runs: [run] } } = await call("/runs");

    let ready = await call("/readyz");
    while (ready.status === 200) { // what was asked before is answered for two seconds
      await new Promise((resolve) => setTimeout(resolve, 50));
      ready = await call("/readyz");
    }
    assertStringIncludes(ready.body.reasons.store, "the disk that holds EVAL_DATA is full");
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
  },
});

Deno.test({
  name: "an interrupted run continues in the room of a deleted one, although the disk stays full",
  ignore,
  async fn() {
    await using disk = await startOnSmallDisk({ megabytes: 12, reply: "x".repeat(20_000) });
    const { call, evaluate } = disk;
    const { body: first } = await evaluate(110);
    assertEquals((await evaluate(110)).status, 507);
    const { body: { runs: [{ run_id }] } } = await call("/runs?limit=1");
    assertEquals((await call(`/runs/${first.run_id}`, { method: "DELETE" })).status, 204);
    let run = await call(`/runs/${run_id}`);
    while (run.body.status !== "completed") {
      await new Promise((resolve) => setTimeout(resolve, 100));
      run = await call(`/runs/${run_id}`);
    }
    assertEquals(run.body.progress.done, 110);
  },
});

Deno.test("a full disk is a 507 with a clear message; stored turns stay, and the run resumes when there is room", () =>
  withFolder(async (folder) => {
    await using endpoint = await startEndpoint(() => 0);
    const environment = { EVAL_DATA: `${folder}/eval.db`, EVAL_CONCURRENCY: "4" };
    const body = {
      test_batch: batch(1, 1),
      endpoint: endpoint.baseUrl,
      model_id: "m",
      attempts: 1000,
    };
    let id = "";
    let acknowledged = 0;
    {
      // Files of at most 500 KB; without the trap the system would end the process.
      await using full = await startServiceProcess("eval", {
        environment,
        limits: "trap '' XFSZ; ulimit -f 1000",
      });
      const response = await evaluate(full, body);
      const problem = await response.json();
      assertEquals([response.status, problem.code], [507, "storage_full"]);
      assertStringIncludes(problem.detail, "the disk that holds EVAL_DATA is full");
      const { runs: [run] } = await (await fetch(`${full.url}/runs`)).json();
      assertEquals([run.status, run.detail], ["interrupted", problem.detail]);
      id = run.run_id;
      acknowledged = run.progress.done;
      assert(acknowledged > 0 && acknowledged < 1000);
      const huge = await evaluate(full, { ...body, test_batch: batch(5000, 1) });
      assertEquals(huge.status, 507);
      await huge.body?.cancel();
      const { runs } = await (await fetch(`${full.url}/runs`)).json();
      assertEquals(runs.length, 1, "a run that could not be stored is half there");
    }
    await using roomy = await startServiceProcess("eval", { environment });
    const { event, data } = await lastEvent(roomy, id);
    assertEquals([event, data.message], ["result", "Evaluation completed successfully"]);
    assert(endpoint.requests.length <= 1000 + 4 + 4, `asked ${endpoint.requests.length} times`);
  }));

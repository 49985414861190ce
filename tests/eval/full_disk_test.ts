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

/** A disk of 14 MB, a part of which another file takes until it is deleted. */
const MEGABYTES = 14;
const OTHER_BYTES = 8 * 1024 * 1024;

Deno.test({
  name: "on a full disk the service is not ready; with room again, it is, and the run goes on",
  ignore,
  fn: () =>
    withFolder(async (folder) => {
      const disk = `${
        mount(folder, MEGABYTES)
      } && head -c ${OTHER_BYTES} /dev/zero > ${folder}/other`;
      await using endpoint = await startProviderDouble(completion({ content: "x".repeat(50_000) }));
      await using service = await startServiceProcess("eval", {
        environment: { EVAL_DATA: `${folder}/eval.db`, EVAL_CONCURRENCY: "4" },
        limits: `exec unshare -rm sh -c '${disk} && exec "$0" "$@"' "$0" "$@"; :`,
      });
      async function call(path: string, init: RequestInit = {}) {
        const response = await fetch(service.url + path, init);
        const text = await response.text();
        return { status: response.status, body: text === "" ? undefined : JSON.parse(text) };
      }
      /** Bounded by the requests, each of which waits for the service. */
      async function callUntil(
        path: string,
        isThere: (answer: Awaited<ReturnType<typeof call>>) => boolean,
      ) {
        for (let tries = 0; tries < 600; tries++) {
          const answer = await call(path);
          if (isThere(answer)) return answer;
          await new Promise((resolve) => setTimeout(resolve, 100));
        }
        throw new Error(`${path} has not changed in a minute`);
      }

      assertEquals((await call("/readyz")).status, 200);
      const refused = await evaluate(service, {
        // Without a reference: long replies take long to compare.
        test_batch: { id: "s", interactions: [{ id: "1", user_message: "Hello!" }] },
        endpoint: endpoint.baseUrl,
        model_id: "m",
        attempts: 100,
      });
      assertEquals([refused.status, (await refused.json()).code], [507, "storage_full"]);
      const { body: { runs: [{ run_id }] } } = await call("/runs");
      const unready = await callUntil("/readyz", ({ status }) => status === 503);
      assertStringIncludes(unready.body.reasons.store, "the disk that holds EVAL_DATA is full");

      await Deno.remove(`/proc/${service.pid}/root${folder}/other`);
      await callUntil("/readyz", ({ status }) => status === 200);
      const run = await callUntil(`/runs/${run_id}`, ({ body }) => body.status === "completed");
      assertEquals(run.body.progress.done, 100);
      assertEquals((await call(`/runs/${run_id}`, { method: "DELETE" })).status, 204);
    }),
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

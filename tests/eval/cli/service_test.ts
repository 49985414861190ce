import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { batchFile } from "../../fakes/cli_context.ts";
import { startCli } from "../../fakes/cli_process.ts";
import { completion, startProviderDouble } from "../../fakes/provider_double.ts";
import { startServiceProcess } from "../../fakes/service_process.ts";
import { until } from "../../fakes/until.ts";
import { withFolder } from "../../fakes/with_folder.ts";

const right = completion({ content: "right" });

/** A service on the database of a folder, with a batch of six scenarios in it. */
async function startService(cwd: string, more: Record<string, string> = {}) {
  await Deno.writeTextFile(`${cwd}/batch.jsonl`, batchFile(6));
  const environment = { EVAL_DATA: `${cwd}/data/eval.db`, ...more };
  return await startServiceProcess("eval", { cwd, environment });
}

Deno.test("while a service has the database open, it does the work of a run, and shows it meanwhile", () =>
  withFolder(async (cwd) => {
    const held = Promise.withResolvers<void>();
    const slow = async () => {
      await held.promise;
      return await right(undefined as never);
    };
    await using endpoint = await startProviderDouble([right, slow, right]);
    const model = ["--endpoint", endpoint.baseUrl, "--model", "m"];
    await using service = await startService(cwd);
    const listed = async () => (await (await fetch(`${service.url}/runs`)).json()).runs;
    const process = startCli(["run", "batch.jsonl", ...model, "-o", "r.json"], { cwd });
    const running = await until(async () => (await listed())[0]);
    assertEquals([running.status, running.test_name], ["running", "batch"]);
    held.resolve();
    const { code, out, err } = await process.outcome;
    assertEquals(code, 0, err);
    assertStringIncludes(out, `Run ${running.run_id}, completed`);
    assertEquals(JSON.parse(await Deno.readTextFile(`${cwd}/r.json`)).run_id, running.run_id);

    const compared = await startCli(
      ["run", "batch.jsonl", ...model, "--baseline", "r.json", "--only", "s1"],
      { cwd },
    ).outcome;
    assertEquals(compared.code, 0, compared.err);
    assertStringIncludes(compared.err, `baseline ${running.run_id}\n`);
    assertEquals((await listed()).length, 2);
    const refused = await startCli(["run", "batch.jsonl", ...model, "--concurrency", "1"], { cwd })
      .outcome;
    assertEquals(refused.code, 1);
    assertMatch(refused.err, /--concurrency is for runs of this process/);
  }));

Deno.test("Ctrl-C stops a run of the service after the running calls, and resume continues it there", () =>
  withFolder(async (cwd) => {
    const held = Promise.withResolvers<void>();
    const slow = async () => {
      await held.promise;
      return await right(undefined as never);
    };
    await using endpoint = await startProviderDouble([right, right, slow, right]);
    const model = ["--endpoint", endpoint.baseUrl, "--model", "m"];
    await using _service = await startService(cwd, { EVAL_CONCURRENCY: "1" });
    const process = startCli(["run", "batch.jsonl", ...model], { cwd });
    await endpoint.received(3);
    process.kill("SIGINT");
    await process.said("stopping after the running calls");
    held.resolve();
    const stopped = await process.outcome;
    assertEquals(stopped.code, 130, stopped.err);
    assertStringIncludes(stopped.err, "3 of 6 turns are stored");
    const resumed = await startCli(["resume", "latest"], { cwd }).outcome;
    assertEquals(resumed.code, 0, resumed.err);
    assertEquals(endpoint.requests.filter(({ method }) => method === "POST").length, 6);
  }));

Deno.test("a service with keys is asked with one, in another folder at its address", () =>
  withFolder(async (cwd) => {
    const key = "a-key-of-the-service";
    await using service = await startService(cwd, { API_KEYS: key });
    const runs = async (args: string[], environment: Record<string, string>, at = cwd) => {
      const { code, out, err } = await startCli(["runs", ...args], { cwd: at, environment })
        .outcome;
      return [code, out || err];
    };
    const own = { EVAL_DATA: `${cwd}/data/eval.db` };
    assertEquals(await runs([], { ...own, API_KEYS: key }), [0, "no runs found\n"]);
    assertEquals((await runs([], own))[0], 1);
    await withFolder(async (other) => {
      const url = ["--url", service.url];
      assertEquals(await runs(url, { EVAL_SERVICE_KEY: key }, other), [0, "no runs found\n"]);
      assertEquals((await runs(url, {}, other))[0], 1);
      assertMatch(String((await runs(["--url", "eval.db"], {}, other))[1]), /--url must be/);
    });
  }));

Deno.test("the address of a service that was killed is not asked", () =>
  withFolder(async (cwd) => {
    const service = await startService(cwd);
    const address = () => Deno.readTextFile(`${cwd}/data/eval.db.address`).catch(() => "");
    assertEquals(await until(address), service.url);
    service.kill("SIGKILL");
    await service.status;
    assertEquals(await address(), service.url, "it could not be removed");
    const { code, out, err } = await startCli(["runs"], { cwd }).outcome;
    assertEquals([code, out], [0, "no runs found\n"], err);
  }));

Deno.test("a key goes to the service alone: to nothing else at its address, and along no redirect", () =>
  withFolder(async (cwd) => {
    await using other = await startProviderDouble(() => new Response("<p>a page</p>"));
    const location = `${other.origin}/runs`;
    const moved = new Response(null, { status: 307, headers: { location } });
    await using redirecting = await startProviderDouble(() => moved.clone());
    const runs = async (args: string[], environment: Record<string, string>) => {
      const { code, err } = await startCli(["runs", ...args], { cwd, environment }).outcome;
      return [code, err.split("\n")[0]];
    };
    const key = { EVAL_SERVICE_KEY: "a-key-of-the-service" };
    assertEquals(await runs(["--url", redirecting.origin], key), [
      1,
      `assay-eval runs: ${redirecting.origin} redirects to ${location}: name the service's own address`,
    ]);
    assertEquals(other.requests.length, 0);
    assertEquals(await runs(["--url", other.origin], key), [
      1,
      "assay-eval runs: what answers is not the service: no JSON",
    ]);

    const API_KEYS = "a-key-of-the-service";
    await using service = await startService(cwd, { API_KEYS });
    const address = `${cwd}/data/eval.db.address`;
    await until(async () => await Deno.readTextFile(address).catch(() => "") === service.url);
    await Deno.writeTextFile(address, other.origin);
    assertEquals(await runs([], { API_KEYS }), [
      1,
      `assay-eval runs: what answers at ${other.origin} is not the service that has the database open`,
    ]);
    assertEquals(other.requests.at(-1)!.headers.get("x-api-key"), null);
  }));

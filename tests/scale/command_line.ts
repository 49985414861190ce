import { assert, assertEquals } from "@std/assert";
import { startCli } from "../fakes/cli_process.ts";
import { runServiceCommand } from "../fakes/service_process.ts";
import { postgresBin, startPostgres } from "../fakes/postgres_server.ts";
import { startCountingEndpoint } from "./counting_endpoint.ts";
import { awaitEnd, batchOf, startInstances, startRun } from "./instances.ts";
import { until } from "../fakes/until.ts";

Deno.test({
  name: "the command line works beside a running service, and nothing shows the password",
  ignore: postgresBin === undefined,
  async fn() {
    await using server = await startPostgres();
    const address = await server.createDatabase();
    const { password } = new URL(address);
    await using endpoint = startCountingEndpoint({ latencyMs: 20 });
    const environment = { EVAL_DATA: address, EVAL_CONCURRENCY: "4", LOG_LEVEL: "debug" };
    await using instances = await startInstances(1, environment);
    const [instance] = instances.all;
    const shown: string[] = [];
    const run = async (...args: string[]) => {
      const result = await runServiceCommand("eval", args, environment);
      shown.push(result.output);
      return result;
    };

    const batch = await Deno.makeTempFile({ suffix: ".json" });
    await Deno.writeTextFile(
      batch,
      JSON.stringify(batchOf(20, { turns: 2, endpoint: endpoint.url })),
    );
    const own = await run("run", batch, "--name", "by hand");
    await Deno.remove(batch);
    assertEquals([own.code, endpoint.total], [0, 40], own.output);
    const joined = instance!.lines.filter((line) => line.includes("run resumed"));
    assertEquals(joined, [], "a service worked on a run of the command line");

    const id = await startRun(
      instance!,
      batchOf(5, { turns: 1, endpoint: endpoint.url, name: "s" }),
    );
    const listed = await run("runs");
    assert(listed.output.includes("by hand") && listed.output.includes(id), listed.output);
    const latest = await run("show", "latest");
    assertEquals(latest.code, 0, latest.output);
    const backup = await run("backup", "copy.db");
    assertEquals(backup.code, 1);
    assert(backup.output.includes("pg_dump"), backup.output);
    const checked = await run("--check");
    assert(checked.output.includes("EVAL_DATA: postgres://127.0.0.1"), checked.output);

    for (const path of ["/readyz", "/metrics", "/version", `/runs/${id}`]) {
      shown.push(await (await fetch(`${instance!.url}${path}`)).text());
    }
    const wrong = address.replace(password, "an0ther-s3cret");
    const refused = await runServiceCommand("eval", [], { ...environment, EVAL_DATA: wrong });
    assertEquals(refused.code, 1);
    shown.push(refused.output, ...instance!.lines);
    for (const text of shown) {
      assert(!text.includes(password) && !text.includes("an0ther-s3cret"), text);
    }
  },
});

Deno.test({
  name: "a run whose command line was killed is finished by a service",
  ignore: postgresBin === undefined,
  async fn() {
    await using server = await startPostgres();
    const address = await server.createDatabase();
    await using endpoint = startCountingEndpoint({ latencyMs: 200 });
    await using instances = await startInstances(1, { EVAL_DATA: address });
    const cwd = await Deno.makeTempDir();
    try {
      await Deno.writeTextFile(`${cwd}/.env`, `EVAL_DATA=${address}\nEVAL_CONCURRENCY=2\n`);
      const body = batchOf(40, { turns: 2, endpoint: endpoint.url });
      await Deno.writeTextFile(`${cwd}/batch.json`, JSON.stringify(body));
      const cli = startCli(["run", "batch.json"], { cwd });
      await cli.said("run ");
      await until(() => endpoint.total >= 10, { within: 120_000 });
      cli.kill("SIGKILL");
      const { err } = await cli.outcome;
      const id = /run ([0-9a-f-]{36})/.exec(err)![1]!;
      const end = await awaitEnd(() => instances.all, id);
      assertEquals([end.status, end.progress.done], ["completed", 80]);
      // Of two concurrent conversations: a question being asked, and a reply being stored.
      assert(endpoint.total <= 84, `${endpoint.total} calls`);
    } finally {
      await Deno.remove(cwd, { recursive: true });
    }
  },
});

import { assertEquals, assertMatch, assertRejects, assertStringIncludes } from "@std/assert";
import { openStore } from "../../../eval/store/open_store.ts";
import { startCli } from "../../fakes/cli_process.ts";
import { batchFile } from "../../fakes/cli_context.ts";
import { completion, startProviderDouble } from "../../fakes/provider_double.ts";

/** A folder with a batch of six scenarios in it, gone at the end. */
async function withBatch(work: (cwd: string) => Promise<void>): Promise<void> {
  const cwd = await Deno.makeTempDir();
  try {
    await Deno.writeTextFile(`${cwd}/batch.jsonl`, batchFile(6));
    await work(cwd);
  } finally {
    await Deno.remove(cwd, { recursive: true });
  }
}

const right = completion({ content: "right" });

Deno.test("a real process runs a batch, writes its files, and the next one knows the run", () =>
  withBatch(async (cwd) => {
    await using endpoint = await startProviderDouble(right);
    const model = ["--endpoint", endpoint.baseUrl, "--model", "m"];
    const output = ["--output", "report.xml", "--output", "report.csv"];
    const first = await startCli(["run", "batch.jsonl", ...model, ...output], { cwd }).outcome;
    assertEquals(first.code, 0, first.err);
    assertEquals(endpoint.requests.filter(({ method }) => method === "POST").length, 6);
    assertMatch(await Deno.readTextFile(`${cwd}/report.xml`), /<testsuites name="batch" tests="6"/);
    assertMatch(await Deno.readTextFile(`${cwd}/report.csv`), /^\ufeff"run_id",/);

    const second = await startCli(["run", "batch.jsonl", ...model, "--baseline", "latest"], { cwd })
      .outcome;
    assertEquals(second.code, 0, second.err);
    assertStringIncludes(second.out, ": overall inconclusive (");
    const { out } = await startCli(["runs"], { cwd }).outcome;
    assertEquals(out.match(/completed/g)?.length, 2);
  }));

Deno.test("a command that needs stored runs does not create the database that it misses", () =>
  withBatch(async (cwd) => {
    await Deno.writeTextFile(`${cwd}/grades.jsonl`, "");
    const commands = [
      ["tag", "latest", "main"],
      ["resume", "latest"],
      ["grades", "latest", "--import", "grades.jsonl"],
      ["datasets", "delete", "support"],
    ];
    for (const command of commands) {
      const { code, err } = await startCli(command, { cwd }).outcome;
      assertEquals(code, 1, err);
      assertMatch(err, /cannot open EVAL_DATA=\S+: there is no such file\n/);
    }
    const left = await Array.fromAsync(Deno.readDir(cwd), ({ name }) => name);
    assertEquals(left.toSorted(), ["batch.jsonl", "grades.jsonl"]);
  }));

Deno.test("a real process that gets Ctrl-C stops cleanly, and resume asks only the rest", () =>
  withBatch(async (cwd) => {
    const held = Promise.withResolvers<void>();
    const slow = async () => {
      await held.promise;
      return await right(undefined as never);
    };
    await using endpoint = await startProviderDouble([right, right, slow, right]);
    const model = ["--endpoint", endpoint.baseUrl, "--model", "m", "--concurrency", "1"];
    const process = startCli(["run", "batch.jsonl", ...model], { cwd });
    await endpoint.received(3); // two are answered, the third is in progress
    process.kill("SIGINT");
    await process.said("stopping after the running calls");
    held.resolve();
    const stopped = await process.outcome;
    assertEquals(stopped.code, 130, stopped.err);
    assertEquals(endpoint.requests.length, 3);
    assertStringIncludes(stopped.err, "3 of 6 turns are stored");
    const [, id = ""] = /continue with: assay-eval resume (\S+)/.exec(stopped.err) ?? [];

    const resumed = await startCli(["resume", id], { cwd }).outcome;
    assertEquals(resumed.code, 0, resumed.err);
    assertStringIncludes(resumed.out, "Turns 6 of 6: 6 pass");
    assertEquals(endpoint.requests.length, 6);
  }));

Deno.test("a real process ends with 1 if nothing listens, and for missing files", () =>
  withBatch(async (cwd) => {
    const model = ["--endpoint", "http://127.0.0.1:1/v1", "--model", "m"];
    const dead = await startCli(["run", "batch.jsonl", ...model], { cwd }).outcome;
    assertEquals(dead.code, 1, dead.err);
    assertStringIncludes(dead.out, "the endpoint did not answer a single turn");
    const noBatch = await startCli(["run", "none.json", ...model], { cwd }).outcome;
    assertEquals(noBatch.code, 1);
    assertStringIncludes(noBatch.err, "cannot read none.json: no such file");
    const output = ["--output", "none/report.xml"];
    const noFolder = await startCli(["run", "batch.jsonl", ...model, ...output], { cwd }).outcome;
    assertEquals(noFolder.code, 1);
    assertStringIncludes(noFolder.err, "cannot write none/report.xml: no such file");
  }));

Deno.test("a real process refuses a batch that is not UTF-8, from a file and from standard input", () =>
  withBatch(async (cwd) => {
    const latin1 = Uint8Array.from("user_message\nth\xe8re\n", (char) => char.charCodeAt(0));
    await Deno.writeFile(`${cwd}/latin1.csv`, latin1);
    const model = ["--endpoint", "http://127.0.0.1:1/v1", "--model", "m"];
    for (const path of ["latin1.csv", "-"]) {
      const { code, out, err } = await startCli(["run", path, ...model], { cwd, input: latin1 })
        .outcome;
      assertEquals([code, out], [1, ""]);
      assertStringIncludes(err, `cannot read ${path}: it is not UTF-8`);
    }
  }));

Deno.test("a real process prints its help even if its configuration is wrong", () =>
  withBatch(async (cwd) => {
    await Deno.writeTextFile(`${cwd}/.env`, "EVAL_CONCURRENCY=many\n");
    const help = await startCli(["run", "--help"], { cwd }).outcome;
    assertEquals([help.code, help.err.includes("EVAL_CONCURRENCY")], [0, false]);
    const model = ["--endpoint", "http://127.0.0.1:1/v1", "--model", "m"];
    const run = await startCli(["run", "batch.jsonl", ...model], { cwd }).outcome;
    assertEquals([run.code, run.out], [1, ""]);
    assertStringIncludes(run.err, "EVAL_CONCURRENCY");
  }));

Deno.test("a real process that prints the help of a run starts no encoder", () =>
  withBatch(async (cwd) => {
    const environment = { DENO_AUDIT_PERMISSIONS: `${cwd}/audit.jsonl` };
    const help = await startCli(["run", "--help"], { cwd, environment }).outcome;
    assertEquals(help.code, 0, help.err);
    const read = await Deno.readTextFile(`${cwd}/audit.jsonl`);
    assertStringIncludes(read, "/eval/cli/commands/run.ts"); // what was loaded is there
    assertEquals(read.match(/encoder_worker|model\.bin/g), null);
  }));

Deno.test("a real process that cannot write a file keeps the old one, and writes the others", () =>
  withBatch(async (cwd) => {
    await using endpoint = await startProviderDouble(right);
    const model = ["--endpoint", endpoint.baseUrl, "--model", "m"];
    const run = await startCli(["run", "batch.jsonl", ...model], { cwd }).outcome;
    assertEquals(run.code, 0, run.err);
    await Deno.writeTextFile(`${cwd}/large.html`, "old");
    const args = ["export", "latest", "--output", "large.html", "--output", "small.xml"];
    const shell = 'trap "" XFSZ; ulimit -f 200; exec "$@"'; // no file has more than 100 KB
    const { code, err } = await startCli(args, { cwd, shell }).outcome;
    assertEquals(code, 1);
    assertMatch(
      err,
      /^wrote small.xml\nassay-eval export: cannot write large.html: File too large .*\nsee .*\n$/,
    );
    assertEquals(await Deno.readTextFile(`${cwd}/large.html`), "old");
    assertMatch(await Deno.readTextFile(`${cwd}/small.xml`), /<\/testsuites>\n?$/);
    const names = [...Deno.readDirSync(cwd)].map(({ name }) => name).sort();
    assertEquals(names, ["batch.jsonl", "data", "large.html", "small.xml"]);
  }));

Deno.test("a real process whose standard output is full says so", () =>
  withBatch(async (cwd) => {
    await using endpoint = await startProviderDouble(right);
    const model = ["--endpoint", endpoint.baseUrl, "--model", "m"];
    const run = await startCli(["run", "batch.jsonl", ...model], { cwd }).outcome;
    assertEquals(run.code, 0, run.err);
    for (const args of [["export", "latest"], ["--help"]]) {
      const { code, err } = await startCli(args, { cwd, shell: 'exec "$@" > /dev/full' }).outcome;
      assertEquals(code, 1);
      assertMatch(
        err,
        /^assay-eval \S+: cannot write standard output: No space left .*\nsee .*\n$/,
      );
    }
    const { code, out } = await startCli(["--help"], { cwd, shell: 'exec "$@" 2> /dev/full' })
      .outcome;
    assertEquals([code, out.startsWith("assay-eval ")], [0, true]);
  }));

Deno.test("a backup that fails leaves no file, and does not touch one that was there", () =>
  withBatch(async (cwd) => {
    await Deno.writeTextFile(`${cwd}/damaged.db`, "this is a letter, not a database. ".repeat(100));
    await Deno.writeTextFile(`${cwd}/empty.db`, "");
    await Deno.writeTextFile(`${cwd}/there.db`, "kept");
    for (const database of ["./damaged.db", "./none.db", "./empty.db", ":memory:"]) {
      const environment = { EVAL_DATA: database };
      for (const target of ["copy.db", "there.db"]) {
        const { code, err } = await startCli(["backup", target], { cwd, environment }).outcome;
        assertEquals(code, 1);
        assertMatch(err, new RegExp(`cannot back up ${database} to ${target}: `));
      }
      await assertRejects(() => Deno.lstat(`${cwd}/copy.db`), Deno.errors.NotFound);
    }
    assertEquals(await Deno.readTextFile(`${cwd}/there.db`), "kept");
  }));

Deno.test("a backup is a database of its own, made while another process writes, and never overwrites", () =>
  withBatch(async (cwd) => {
    await using endpoint = await startProviderDouble(right);
    const model = ["--endpoint", endpoint.baseUrl, "--model", "m"];
    const run = await startCli(["run", "batch.jsonl", ...model], { cwd }).outcome;
    assertEquals(run.code, 0, run.err);
    const store = await openStore({ path: `${cwd}/data/eval.db` }); // holds the lock, and may write
    try {
      const first = await startCli(["backup", "copy.db"], { cwd }).outcome;
      assertEquals(first.code, 0, first.err);
      const second = await startCli(["backup", "copy.db"], { cwd }).outcome;
      assertEquals(second.code, 1);
      assertStringIncludes(second.err, "cannot back up ./data/eval.db to copy.db");
    } finally {
      await store.close();
    }
    assertEquals((await Deno.stat(`${cwd}/copy.db`)).mode! & 0o777, 0o600);
    const isCopy = ({ name }: Deno.DirEntry) => name.startsWith("copy.db");
    const listed = await startCli(["runs"], { cwd, environment: { EVAL_DATA: "copy.db" } }).outcome;
    assertEquals(listed.code, 0, listed.err);
    const copies = (await Array.fromAsync(Deno.readDir(cwd))).filter(isCopy);
    assertEquals(copies.length, 1, "making and reading a backup leaves no files beside it");
    const copy = await openStore({ path: `${cwd}/copy.db` }); // restoring is naming the file
    const { runs: [restored] } = await copy.listRuns({ limit: 9 });
    assertEquals([restored?.status, (await copy.tally(restored!.id)).done], ["completed", 6]);
    await copy.close();
  }));

Deno.test("run beside the service says which command works, and that one does", () =>
  withBatch(async (cwd) => {
    await using endpoint = await startProviderDouble(right);
    const store = await openStore({ path: `${cwd}/eval.db` });
    const run = ["run", "batch.jsonl", "--endpoint", endpoint.baseUrl, "--model", "m"];
    const beside = await startCli(run, { cwd, environment: { EVAL_DATA: "eval.db" } }).outcome;
    assertEquals([beside.code, endpoint.requests.length], [1, 0]);
    assertStringIncludes(beside.err, "set another file: EVAL_DATA=other.db assay-eval run …");
    const other = await startCli(run, { cwd, environment: { EVAL_DATA: "other.db" } }).outcome;
    assertEquals(other.code, 0, other.err);
    await store.close();
  }));

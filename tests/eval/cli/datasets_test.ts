import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { batchFile, cliContext } from "../../fakes/cli_context.ts";

const MODEL = ["--endpoint", "http://127.0.0.1:9", "--model", "m"];

Deno.test("a dataset is put, listed, printed, run and deleted", async () => {
  const files = { "support.jsonl": batchFile(2), "more.jsonl": batchFile(3) };
  const cli = cliContext({ files, answer: () => "right" });
  const put = await cli.run("datasets", "put", "support", "support.jsonl");
  assertEquals(put.code, 0);
  assertMatch(put.out, /^support@[0-9a-f]{32}: 2 scenarios, 2 turns\n$/);
  const version = put.out.slice("support@".length, "support@".length + 32);
  const again = await cli.run("datasets", "put", "support", "support.jsonl");
  assertStringIncludes(again.out, "which is stored already");
  await cli.run("datasets", "put", "support", "more.jsonl");

  assertMatch((await cli.run("datasets")).out, /support +[0-9a-f]{32} +2 +3 +3 /);
  const { out: printed } = await cli.run("datasets", "get", `support@${version.slice(0, 8)}`);
  const ids = printed.trimEnd().split("\n").map((line) => JSON.parse(line).id);
  assertEquals(ids, ["s0", "s1"]);

  const run = await cli.run("run", "--dataset", `support@${version}`, ...MODEL);
  assertEquals(run.code, 0, run.err);
  const { runs: [record] } = await cli.store.listRuns({ limit: 1 });
  const { request, testName, batchDigest } = (await cli.store.getRun(record!.id))!;
  assertEquals([request.dataset, testName, batchDigest], [
    `support@${version}`,
    "support",
    version,
  ]);
  assertEquals(cli.asked.length, 2);

  const deleted = await cli.run("datasets", "delete", `support@${version.slice(0, 8)}`);
  assertEquals(deleted.out, `deleted support@${version}\n`);
  assertEquals((await cli.run("datasets", "delete", "support")).out, "deleted support\n");
  assertEquals((await cli.run("datasets")).out, "no datasets found\n");
});

Deno.test("a table is put with a mapping, and what is left out is reported", async () => {
  const files = { "t.csv": "question,colour\nHi?,red\n" };
  const cli = cliContext({ files });
  const args = ["datasets", "put", "t", "t.csv", "--column", "user_message=question"];
  const { code, err } = await cli.run(...args);
  assertEquals([code, err], [0, "left out: the column colour (first in line 1)\n"]);
});

Deno.test("what a file contains cannot command the terminal, in errors and in what is left out", async () => {
  const files = {
    "left.csv": "user_message,a\u001b[31mb\nHi?,red\n",
    "wrong.csv": "a\u001b]0;title\u0007b,c\u202e\n1,2\n",
  };
  const cli = cliContext({ files });
  const left = await cli.run("datasets", "put", "t", "left.csv");
  assertEquals(left.err, "left out: the column a [31mb (first in line 1)\n");
  for (const command of [["datasets", "put", "t", "wrong.csv"], ["run", "wrong.csv", ...MODEL]]) {
    const { code, err } = await cli.run(...command);
    assertEquals(code, 1);
    assertStringIncludes(err, "the columns are a ]0;title b, c )");
  }
});

const REFUSED: [string[], string][] = [
  [["datasets", "frob"], 'unknown action "frob": it must be put, get or delete'],
  [["datasets", "put", "a b", "x.jsonl"], 'cannot use the name "a b": it must have 1 to 100'],
  [["datasets", "put", "a", "x.jsonl", "--format", "xml"], "cannot use --format xml"],
  [["datasets", "put", "a", "x.jsonl"], "cannot use the file (read as jsonl): line 2"],
  [["datasets", "put", "a", "missing.jsonl"], "cannot read missing.jsonl"],
  [["datasets", "get", "a"], 'cannot find dataset "a"'],
  [
    ["datasets", "get", "a@zz"],
    'cannot use "a@zz": it must be NAME or NAME@VERSION; the version must be 1 to 32 characters of',
  ],
  [["datasets", "delete", "a"], 'cannot find dataset "a"'],
  [["run", "--dataset", "a", ...MODEL], 'cannot find dataset "a"'],
  [["run", "x.jsonl", "--dataset", "a", ...MODEL], 'unexpected argument "x.jsonl"'],
];

for (const [args, says] of REFUSED) {
  Deno.test(`"${args.join(" ")}" is refused`, async () => {
    const cli = cliContext({ files: { "x.jsonl": `${batchFile(1)}\n{` } });
    const { code, err } = await cli.run(...args);
    assertEquals(code, 1);
    assertStringIncludes(err, says);
  });
}

import { assertEquals, assertMatch, assertRejects, assertStringIncludes } from "@std/assert";
import { createFileReader } from "../../../eval/cli/batch.ts";
import { UsageError } from "../../../eval/cli/command.ts";
import { createCliLogger } from "../../../eval/cli/process/deno_context.ts";
import { readText, realPath, writeText } from "../../../eval/cli/process/deno_files.ts";
import { EvalConfig } from "../../../eval/config.ts";
import { parseConfig } from "../../../shared/service/config.ts";
import { batchFile, cliContext } from "../../fakes/cli_context.ts";

function createStream(isTerminal: boolean) {
  const lines: string[] = [];
  const write = (text: string) => void lines.push(text);
  return { lines, stream: { write, isTerminal, columns: 80 } };
}

Deno.test("the command line's log has no secret of the configuration in it", () => {
  const config = parseConfig(EvalConfig, {
    EVAL_API_KEY: "planted-eval-key",
    EVAL_CREDENTIALS: '{"https://model.example":"planted-own-key"}',
    LOG_LEVEL: "debug",
  });
  const { lines, stream } = createStream(false);
  const log = createCliLogger(config, stream);
  const error = new Error("they said planted-eval-key, then planted-own-key");
  log.error("run failed", { endpoint: "https://model.example/v1?token=t0ken", error });
  assertEquals(lines.join("").match(/planted|t0ken/g), null);
  assertStringIncludes(lines.join(""), "[secret]");
});

Deno.test("on a terminal a line of the log takes the place of the bar; elsewhere it is plain", () => {
  const read = (isTerminal: boolean) => {
    const { lines, stream } = createStream(isTerminal);
    createCliLogger(parseConfig(EvalConfig, {}), stream).warn("the judge cannot be asked");
    return lines.join("");
  };
  assertEquals(read(true), `\r\x1b[K${read(false)}`);
  assertMatch(read(false), /^\S.*the judge cannot be asked\n$/);
});

/** A folder that is gone at the end. */
async function withFolder(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    await work(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

const names = (folder: string) => [...Deno.readDirSync(folder)].map(({ name }) => name);

Deno.test("an existing file is replaced only by a complete one, and nothing is left beside it", () =>
  withFolder(async (folder) => {
    const path = `${folder}/out.json`;
    await Deno.writeTextFile(path, "old");
    async function* broken() {
      yield "a".repeat(100_000);
      await Promise.resolve();
      throw new RangeError("no more");
    }
    await assertRejects(() => writeText(path, broken()), RangeError, "no more");
    assertEquals([await Deno.readTextFile(path), names(folder)], ["old", ["out.json"]]);
    await writeText(path, ReadableStream.from(["n", "ew"]));
    assertEquals([await Deno.readTextFile(path), names(folder)], ["new", ["out.json"]]);
  }));

Deno.test("a file that is written again keeps its mode, and stays behind its link", () =>
  withFolder(async (folder) => {
    await Deno.writeTextFile(`${folder}/real.json`, "old", { mode: 0o600 });
    await Deno.symlink("real.json", `${folder}/link.json`);
    await writeText(`${folder}/link.json`, ReadableStream.from(["new"]));
    assertEquals(await Deno.readTextFile(`${folder}/real.json`), "new");
    assertEquals((await Deno.stat(`${folder}/real.json`)).mode! & 0o777, 0o600);
    assertEquals((await Deno.lstat(`${folder}/link.json`)).isSymlink, true);
  }));

Deno.test("a device is written as it is, and no file takes its place", async () => {
  await writeText("/dev/null", ReadableStream.from(["text"]));
  assertEquals((await Deno.lstat("/dev/null")).isCharDevice, true);
});

Deno.test("a file that the system refuses to open is an error of the user", async () => {
  const path = "a".repeat(5_000);
  await assertRejects(() => readText(path), UsageError, `cannot read ${path}: `);
});

Deno.test("a file that another one names is read only below the folder of that one, also behind links", () =>
  withFolder(async (folder) => {
    await Deno.mkdir(`${folder}/bot/more`, { recursive: true });
    await Deno.mkdir(`${folder}/bot-2`);
    for (const name of ["secret.json", "bot-2/c.txt", "bot/b.txt", "bot/more/a.txt"]) {
      await Deno.writeTextFile(`${folder}/${name}`, name);
    }
    await Deno.symlink("../secret.json", `${folder}/bot/outside.json`);
    await Deno.symlink("more/a.txt", `${folder}/bot/inside.txt`);
    await Deno.symlink("bot", `${folder}/link`);
    for (const config of ["bot/c.yaml", "link/c.yaml"]) {
      const read = createFileReader(`${folder}/${config}`, { readText, realPath });
      assertEquals(await read("b.txt"), "bot/b.txt");
      assertEquals(await read("inside.txt"), "bot/more/a.txt");
      assertEquals(await read(`${folder}/bot/more/a.txt`), "bot/more/a.txt");
      const outside = [`${folder}/secret.json`, "../secret.json", "outside.json", "../bot-2/c.txt"];
      for (const name of outside) {
        await assertRejects(() => read(name), UsageError, "; put it there");
      }
      await assertRejects(() => read("none.txt"), UsageError, "no such file or folder");
    }
  }));

Deno.test("a file that another one names is also read below the current folder, unless it is hidden", () =>
  withFolder(async (folder) => {
    await Deno.mkdir(`${folder}/prompts`);
    await Deno.mkdir(`${folder}/.docker`);
    await Deno.writeTextFile(`${folder}/.docker/config.json`, "a key");
    await Deno.mkdir(`${folder}/evals`);
    await Deno.writeTextFile(`${folder}/prompts/a.txt`, "a");
    const here = (path: string) => realPath(path === "." ? folder : path);
    const read = createFileReader(`${folder}/evals/c.yaml`, { readText, realPath: here });
    assertEquals(await read("../prompts/a.txt"), "a");
    await assertRejects(() => read("../.docker/config.json"), UsageError, "; put it there");
  }));

const MODEL = ["--endpoint", "http://127.0.0.1:9", "--model", "m"];
const turn = { id: "t", user_message: "hello" };
const first = { id: "first", interactions: [turn] };
const second = { id: "second", interactions: [turn] };

/** Runs a batch; gives the request that is stored, if one is, and what is said. */
async function runBatch(text: string, args = MODEL, name = "b.json") {
  const { run, store } = cliContext({ files: { [name]: text } });
  const { err } = await run("run", name, ...args);
  const { runs: [stored] } = await store.listRuns({ limit: 1 });
  return { request: stored && (await store.getRun(stored.id))!.request, err };
}

const inputs: [name: string, text: string, scenarios: string[]][] = [
  ["one request body", JSON.stringify({ test_batch: first }), ["first"]],
  ["a request body with several scenarios", JSON.stringify({ test_batch: [first, second] }), [
    "first",
    "second",
  ]],
  ["an array of scenarios", JSON.stringify([first, second], null, 2), ["first", "second"]],
  ["one scenario", JSON.stringify(first), ["first"]],
  [
    "one scenario per line, as Windows ends them, with blank ones between",
    [
      JSON.stringify(first),
      "",
      JSON.stringify(second),
      "",
    ].join("\r\n"),
    ["first", "second"],
  ],
  ["a file that begins with a byte order mark", `\ufeff${JSON.stringify([first])}`, ["first"]],
];
for (const [name, text, scenarios] of inputs) {
  Deno.test(`a batch may be ${name}`, async () => {
    const { request } = await runBatch(text);
    assertEquals(request?.test_batch.map(({ id }) => id), scenarios);
  });
}

Deno.test("a request body needs no options, and options win over it", async () => {
  const body = JSON.stringify({
    test_batch: first,
    endpoint: "http://body.example",
    model_id: "from the body",
    attempts: 3,
    parameters: { temperature: 0 },
  });
  const { request: plain } = await runBatch(body, []);
  assertEquals([plain!.endpoint, plain!.model_id, plain!.attempts], [
    "http://body.example",
    "from the body",
    3,
  ]);
  const { request: changed } = await runBatch(body, ["--model", "other", "--attempts", "5"]);
  assertEquals([changed!.model_id, changed!.attempts], ["other", 5]);
  assertEquals(changed!.parameters, { temperature: 0 });
});

const faults: [name: string, text: string, message: string][] = [
  ["broken JSON", '{"test_batch": ', "it is not JSON"],
  ["a broken line", `${JSON.stringify(first)}\n{"id": \n`, "line 2: it is not JSON"],
  [
    "another object",
    '{\n"a": 7}',
    "it must hold one request body, an array of scenarios, or one scenario per line",
  ],
  ["nothing", "\ufeff\r\n", "cannot use the batch: it is empty"],
  [
    "a scenario without turns",
    JSON.stringify([first, { id: "x" }]),
    "test_batch.1.interactions: ",
  ],
];
for (const [name, text, message] of faults) {
  Deno.test(`a batch that holds ${name} is refused, and the message says where`, async () => {
    const { request, err } = await runBatch(text);
    assertEquals(request, undefined);
    assertStringIncludes(err, message);
  });
}

Deno.test("what is missing is named with the option that gives it", async () => {
  const { err } = await runBatch(JSON.stringify([first]), []);
  assertStringIncludes(err, "endpoint (--endpoint URL): ");
  assertStringIncludes(err, "model_id (--model ID): ");
});

Deno.test("a table needs the names of its columns, and says what it has if they are wrong", async () => {
  const read = (...options: string[]) =>
    runBatch("q,a,other\nWho?,Me.,x\n", [...MODEL, ...options], "t.csv");
  const columns = ["--column", "user_message=q", "--column", "reference_reply=a"];
  const { request, err } = await read(...columns);
  assertEquals(request!.test_batch[0]!.interactions[0]!.reference_reply, "Me.");
  assertStringIncludes(err, "left out: the column other");
  for (
    const [option, value, words] of [
      ["--column", "user_message=question", "there is no column question; the columns are q, a"],
      ["--column", "q", "write FIELD=COLUMN"],
      ["--format", "excel", "the formats are jsonl, json, csv, promptfoo"],
    ] as const
  ) assertStringIncludes((await read(option, value)).err, words);
});

Deno.test("an error in a file of lines is reported with the file's line", async () => {
  const lines = [first, "", { ...second, interactions: [{ id: 7 }] }, "", { id: "none" }]
    .map((line) => line && JSON.stringify(line)).join("\n");
  const { err } = await runBatch(lines);
  assertStringIncludes(err, "  line 3, interactions.0.id: ");
  assertStringIncludes(err, "  line 3, interactions.0.user_message: ");
  assertStringIncludes(err, "  line 5, interactions: ");
});

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

for (const name of ["baseline", "grades", "leaks"]) {
  Deno.test(`a dataset may be called ${name}, as a route of runs or datasets ends`, async () => {
    const cli = cliContext({ files: { "b.jsonl": batchFile(1) } });
    assertMatch((await cli.run("datasets", "put", name, "b.jsonl")).out, /: 1 scenario, 1 turn\n$/);
    assertMatch((await cli.run("datasets", "get", name)).out, /^\{"id":"s0"/);
    assertEquals((await cli.run("datasets", "delete", name)).out, `deleted ${name}\n`);
  });
}

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
  [["datasets", "frob"], 'unknown action "frob": it must be put, get, tag or delete'],
  [["datasets", "put", "a b", "x.jsonl"], "cannot use the path: name: must have 1 to 100"],
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

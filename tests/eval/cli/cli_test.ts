import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { createProgressDisplay, describeDuration } from "../../../eval/cli/process/progress.ts";
import { renderTable } from "../../../eval/report/text/terminal_form.ts";
import { batchFile, cliContext } from "../../fakes/cli_context.ts";
import { memoryStore } from "../../fakes/memory_store.ts";
import { fakeEmbedder, scoringPorts } from "../../fakes/scoring_ports.ts";

const target = ["--endpoint", "http://model.example/v1", "--model", "acme/model"];
const commands = [
  ...["run", "runs", "show", "compare", "grades", "agreement", "export", "tag"],
  ...["datasets", "resume", "backup"],
];

/** A context in which two runs are stored: the first all right, the second all wrong. */
async function withRuns() {
  let reply = "right";
  const context = cliContext({ files: { "b.json": batchFile(10) }, answer: () => reply });
  await context.run("run", "b.json", ...target);
  reply = "wrong";
  await context.run("run", "b.json", ...target, "--name", "second");
  const [second, first] = (await context.store.listRuns({ limit: 2 })).runs;
  return { ...context, first: first!.id, second: second!.id };
}

for (const help of ["--help", "-h", "help"]) {
  Deno.test(`"${help}" lists the commands, with an example`, async () => {
    const { code, out } = await cliContext().run(help);
    assertEquals(code, 0);
    for (const command of commands) assertMatch(out, new RegExp(`^  ${command} `, "m"));
    assertStringIncludes(out, "Example:\n  assay-eval run ");
  });
}

for (const command of commands) {
  Deno.test(`"${command} --help" explains the command, with an example of it`, async () => {
    const { code, out } = await cliContext().run(command, "--help");
    assertEquals(code, 0);
    assert(out.startsWith(`assay-eval ${command}`));
    assertStringIncludes(out, `Example:\n  assay-eval ${command} `);
    for (const line of out.split("\n")) assert(line.length <= 88, line);
    const takesRun = out.startsWith(`assay-eval ${command} RUN`);
    assert(!takesRun || out.includes('"tag:NAME"'), `${command} does not say what RUN may be`);
  });
}

Deno.test("an unknown command ends with 1 and the list of commands", async () => {
  const { code, out, err } = await cliContext().run("evaluate");
  assertEquals([code, out], [1, ""]);
  assertStringIncludes(err, 'unknown command "evaluate"');
  assertStringIncludes(err, "  compare ");
});

Deno.test("an error is told as itself if the database cannot be closed after it either", async () => {
  const close = () => Promise.reject(new Error("cannot close"));
  const { run } = cliContext({ store: { ...memoryStore(), close } });
  const id = "01890000-0000-7000-8000-000000000000";
  const { code, err } = await run("tag", id, "main");
  assertEquals(code, 1);
  assertStringIncludes(err, `assay-eval tag: cannot find run ${id}`);
});

Deno.test("runs lists what is stored, newest first, and can be filtered", async () => {
  const { run, first, second } = await withRuns();
  const all = await run("runs");
  assertEquals(all.code, 0);
  const rows = all.out.trim().split("\n").slice(2);
  assertEquals(rows.map((row) => row.slice(0, 36)), [second, first]);
  assertMatch(rows[1]!, /completed +10 +1\.000 +acme\/model +b$/);
  const filtered = await run("runs", "--name", "second");
  assert(filtered.out.includes(second) && !filtered.out.includes(first));
  assertEquals((await run("runs", "--status", "cancelled")).out, "no runs found\n");
  assertEquals((await run("runs", "--status", "done")).code, 1);
});

Deno.test("an overall that is not known counts 0 in runs and in show, which says why", async () => {
  const interactions = [
    { id: "1", user_message: "a", reference_reply: "Köln" },
    { id: "2", user_message: "b", reference_reply: "fine" },
  ];
  const test_batch = { id: "s", interactions };
  const files = {
    "b.json": JSON.stringify({ test_batch, endpoint: "http://127.0.0.1:1", model_id: "m" }),
  };
  const { embedder: { compare: _, ...vectors } } = fakeEmbedder(); // as an embeddings endpoint
  const scoring = scoringPorts({ embedder: vectors });
  const { run } = cliContext({ files, answer: () => "fine", scoring });
  const { out } = await run("run", "b.json");
  assertMatch(out, /Missing 1 × overall: the reference is a single word or a name/);
  assertMatch(out, /^overall +0\.500 +1 +1$/m);
  const [, , row] = (await run("runs")).out.split("\n");
  assertMatch(row!, /completed +2 +0\.500 /);
  const { runs: [listed] } = JSON.parse((await run("runs", "--json")).out);
  assertEquals([listed.progress.missing, listed.progress.mean], [1, null]);
});

Deno.test("runs shows the overall that show has: each scenario counts alike", async () => {
  const turn = (id: string, user_message: string) => ({
    id,
    user_message,
    reference_reply: "fine",
  });
  const test_batch = [
    { id: "long", interactions: [turn("1", "a"), turn("2", "b"), turn("3", "c")] },
    { id: "short", interactions: [turn("1", "bad")] },
  ];
  const files = {
    "b.json": JSON.stringify({ test_batch, endpoint: "http://127.0.0.1:1", model_id: "m" }),
  };
  const { run } = cliContext({
    files,
    answer: (messages) => messages.at(-1)!.content === "bad" ? "awful" : "fine",
  });
  await run("run", "b.json");
  const [, , row] = (await run("runs")).out.split("\n");
  const [, shown] = /^overall +(\S+)/m.exec((await run("show", "latest")).out)!;
  assert(Number(shown) < 0.75, shown); // the mean over turns is higher
  assertMatch(row!, new RegExp(`completed +4 +${shown} `));
});

Deno.test("a question that is asked twice counts once in runs and in show, which says so", async () => {
  const scenarioOf = (id: string, user_message: string) => ({
    id,
    interactions: [{ id: "1", user_message, reference_reply: "fine" }],
  });
  const test_batch = [scenarioOf("a", "x"), scenarioOf("b", "x"), scenarioOf("c", "bad")];
  const { run } = cliContext({
    files: {
      "b.json": JSON.stringify({ test_batch, endpoint: "http://127.0.0.1:1", model_id: "m" }),
    },
    answer: (messages) => messages.at(-1)!.content === "bad" ? "awful" : "fine",
  });
  const { out, err } = await run("run", "b.json");
  const [, shown] = /^overall +(\S+)/m.exec(out)!;
  assertMatch(err, /^3\/3 turns$/m);
  const { runs: [listed] } = JSON.parse((await run("runs", "--json")).out);
  assertEquals(listed.headline.scores.overall.mean.toFixed(3), shown);
  assertEquals(listed.progress.mean, null);
  assert(Number(shown) < 0.6, `${shown}: of two questions, one is right`);
  assertStringIncludes(out, "3 scenarios ask 2 different questions: those that ask the same");
  assertMatch((await run("runs")).out, new RegExp(`completed +3 +${shown} `));
});

Deno.test("show lists the replies that agree with their references in one way", async () => {
  const interactions = [
    { id: "1", user_message: "How many?", reference_reply: "There are 12 rooms." },
    { id: "2", user_message: "Until when?", reference_reply: "The pool is open until 8 pm." },
  ];
  const test_batch = { id: "s", interactions };
  const files = {
    "b.json": JSON.stringify({ test_batch, endpoint: "http://127.0.0.1:1", model_id: "m" }),
  };
  const { run } = cliContext({
    files,
    answer: (messages) =>
      messages.at(-1)!.content === "How many?" ? "There are 15 rooms." : "I do not know.",
  });
  await run("run", "b.json");
  const { out } = await run("show", "latest", "--agreement", "contradicts");
  assertStringIncludes(out, "answered: There are 15 rooms.");
  assert(!out.includes("answered: I do not know."), out);
  const { code, err } = await run("show", "latest", "--agreement", "wrong");
  assertEquals(code, 1);
  assertStringIncludes(err, "--agreement is one of same, partly, adds, unrelated, contradicts");
});

Deno.test("show describes one run, by its id or as the latest", async () => {
  const { run, first, second } = await withRuns();
  assertStringIncludes((await run("show", first)).out, `Run ${first}, completed`);
  assertStringIncludes((await run("show", "latest")).out, `Run ${second}, completed`);
  const { code, err } = await run("show", "none");
  assertEquals(code, 1);
  assertStringIncludes(err, "cannot find run none");
});

Deno.test("compare ends with 100 if the candidate regressed, else with 0", async () => {
  const { run, first, second } = await withRuns();
  const worse = await run("compare", first, second, "--score", "overall");
  assertEquals(worse.code, 100);
  assertMatch(
    worse.out,
    /overall +1\.000 +0\.000 +-1\.000 +-1\.000 … -0\.\d+ +0\.00\d+/,
  );
  assertEquals((await run("compare", second, first)).code, 0);
  const json = await run("compare", first, second, "--json");
  assertEquals(JSON.parse(json.out).runs[0].run_id, first);
  assertEquals((await run("compare", first)).code, 1);
  const unknown = await run("compare", first, second, "--score", "bleu9");
  assertEquals(unknown.code, 1);
  assertStringIncludes(unknown.err, "cannot decide by bleu9");
});

Deno.test("export writes to the standard output, or to files by their ending", async () => {
  const { run, first, files } = await withRuns();
  const plain = await run("export", first);
  assertEquals(JSON.parse(plain.out).run_id, first);
  assert((await run("export", first, "--format", "junit")).out.startsWith("<?xml"));
  const { code, out } = await run("export", first, "-o", "x.csv", "-o", "y.md");
  assertEquals([code, out], [0, ""]);
  assert(files["x.csv"]!.startsWith('\ufeff"run_id"') && files["y.md"]!.startsWith("## "));
  assertEquals((await run("export", first, "--format", "pdf")).code, 1);
  const scores = await run("export", first, "--format", "jsonl", "--rows", "scores");
  const [overall] = scores.out.split("\n").map((line) => line && JSON.parse(line));
  assertEquals([overall.score, overall.n], ["overall", 10]);
  const wrong = await run("export", first, "--rows", "words");
  assertEquals(wrong.code, 1);
  assertStringIncludes(wrong.err, '--rows must be turns or scores, not "words"');
});

Deno.test("runs and show print JSON for programs, as the service answers it", async () => {
  const { run } = cliContext({ files: { "b.json": batchFile(2) }, answer: () => "right" });
  await run("run", "b.json", "--endpoint", "http://model.example/v1?project=p", "--model", "m");
  const { runs } = JSON.parse((await run("runs", "--json")).out);
  assertEquals(runs.length, 1);
  const { run_id, status, test_name, endpoint, progress } = runs[0];
  assertEquals([status, test_name, progress.done], ["completed", "b", 2]);
  assertEquals(endpoint, "http://model.example/v1");
  const shown = JSON.parse((await run("show", "latest", "--json")).out);
  assertEquals(shown.run_id, run_id);
  assertEquals(shown.result.results.scenarios.length, 2);
  assertEquals(JSON.parse((await cliContext().run("runs", "--json")).out), { runs: [] });
});

const AT = ["--endpoint", "http://model.example/v1"];
const context = () => cliContext({ files: { "b.jsonl": batchFile(2) } });

const OF_A_RUN: [options: string[], says: string][] = [
  [["--format", "junit", "--rows", "scores"], "--rows is for jsonl and csv"],
  [
    ["--format", "jsonl", "--threshold", "0.9"],
    "--threshold is for csv, junit, junit-scenarios, ctrf, markdown, text and html",
  ],
  [["-o", "a.json", "-o", "b.xml", "--rows", "turns"], "--rows is for jsonl and csv"],
];

Deno.test("an export names an option that none of its formats uses", async () => {
  const { run } = context();
  await run("run", "b.jsonl", ...AT, "--model", "a");
  for (const [options, says] of OF_A_RUN) {
    const { code, err } = await run("export", "latest", ...options);
    assertEquals(code, 1, options.join(" "));
    assertStringIncludes(err, says);
  }
  const used = ["-o", "a.csv", "-o", "b.xml", "--rows", "scores", "--threshold", "0.9"];
  assertEquals((await run("export", "latest", ...used)).code, 0);
});

Deno.test("an export of a group takes a threshold for its JUnit XML, and no rows", async () => {
  const { run } = context();
  const { err } = await run("run", "b.jsonl", ...AT, "--model", "a", "--model", "b");
  const [, id] = /^group (\S{36})$/m.exec(err) ?? [];
  const refused = await run("export", id!, "--rows", "scores", "--format", "csv");
  assertEquals(refused.code, 1);
  assertStringIncludes(refused.err, "--rows cannot be used with several runs; export each instead");
  assertEquals((await run("export", id!, "--threshold", "0.9")).code, 1);
  const { out } = await run("export", id!, "--format", "junit", "--threshold", "0.123");
  assert(out.includes('name="threshold" value="0.123"'), out);
});

Deno.test("what says how a file is read is refused for a dataset, and columns for what is no table", async () => {
  const { run } = context();
  for (const option of [["--format", "csv"], ["--column", "user_message=q"]]) {
    const { code, err } = await run("run", "--dataset", "d", ...AT, "--model", "a", ...option);
    assertEquals(code, 1);
    assertStringIncludes(err, "--format and --column are for files");
  }
  const columns = ["--format", "jsonl", "--column", "user_message=q"];
  for (const command of [["run", "b.jsonl", ...AT], ["datasets", "put", "d", "b.jsonl"]]) {
    const { code, err } = await run(...command, ...columns);
    assertEquals(code, 1);
    assertStringIncludes(err, "--column is for tables (csv), and the file is read as jsonl");
  }
});

Deno.test("names are aligned to the left, numbers to the right", () => {
  assertEquals(
    renderTable(["score", "mean"], [["overall", "0.5"], ["f1", "12.25"]]),
    `score     mean
-------  -----
overall    0.5
f1       12.25
`,
  );
});

Deno.test("wide characters take two places", () => {
  assertEquals(
    renderTable(["s", "n"], [["你好", "1"], ["ab", "2"]]),
    "s     n\n----  -\n你好  1\nab    2\n",
  );
});

Deno.test("a name cannot write to the terminal or over other lines", () => {
  assertEquals(
    renderTable(["s"], [["\x1b[2Jgone\nnext\u202e"]]),
    "s\n------------\n[2Jgone next\n",
  );
});

Deno.test("a table may have more rows than a call may have arguments", () => {
  const rows = Array.from({ length: 200_000 }, () => ["score", "1"]);
  assertEquals(renderTable(["name", "mean"], rows).split("\n").length, 200_003);
});

function stream(isTerminal: boolean) {
  const written: string[] = [];
  return {
    written,
    stream: { write: (text: string) => void written.push(text), isTerminal, columns: 80 },
  };
}

const at = (done: number, failed = 0, missing = 0) => ({
  done,
  failed,
  missing,
  total: 100,
  mean: done === 0 ? null : 0.8125,
  eta_ms: done === 0 ? null : 75_000,
});

Deno.test("on a terminal one line is drawn over itself, ten times a second at most", () => {
  let now = 0;
  const { written, stream: terminal } = stream(true);
  const display = createProgressDisplay(terminal, () => now);
  display.update(at(0));
  display.update(at(1)); // too soon
  now = 200;
  display.update(at(50, 2));
  display.close(at(100, 2));
  assertEquals(written, [
    `\r\x1b[K${"░".repeat(24)} 0/100 turns`,
    `\r\x1b[K${"█".repeat(12)}${"░".repeat(12)} 50/100 turns, 2 failed, mean 0.813, 1m 15s left`,
    `\r\x1b[K${"█".repeat(24)} 100/100 turns, 2 failed, mean 0.813`,
    "\n",
  ]);
});

Deno.test("in a log there are at most 21 plain lines, whatever the number of turns", () => {
  const { written, stream: log } = stream(false);
  const display = createProgressDisplay(log, () => 0);
  for (let done = 0; done <= 100; done++) display.update(at(done));
  display.close(at(100));
  assertEquals(written.length, 21);
  assertEquals(written[0], "0/100 turns\n");
  assertEquals(written[1], "5/100 turns, mean 0.813, 1m 15s left\n");
  assertEquals(written.at(-1), "100/100 turns, mean 0.813\n");
});

Deno.test("a run that stopped half-way leaves the point where it stopped in the log", () => {
  const { written, stream: log } = stream(false);
  const display = createProgressDisplay(log, () => 0);
  display.update(at(0));
  display.close(at(3));
  assertEquals(written.at(-1), "3/100 turns, mean 0.813, 1m 15s left\n");
});

for (const [ms, text] of [[400, "1s"], [59_000, "59s"], [3_600_000, "1h 0m"]] as const) {
  Deno.test(`${ms} ms are shown as ${text}`, () => assertEquals(describeDuration(ms), text));
}

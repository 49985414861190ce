import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { parse } from "csv-parse/sync";
import { parse as parseJunit, type TestSuites } from "junit2json";
import type { EvaluateRequest } from "../../../eval/test/evaluate_request.ts";
import { ProviderError } from "../../../shared/providers/provider.ts";
import { batchFile, cliContext, type CliOptions } from "../../fakes/cli_context.ts";
import { providerError } from "../../fakes/eval_ports.ts";
import { evaluateBody } from "../../fakes/eval_service.ts";
import { scoringPorts } from "../../fakes/scoring_ports.ts";

const body = evaluateBody({
  test_batch: ["a", "b", "c"].map((id) => ({
    id,
    interactions: [{ id: "1", user_message: `${id}1`, reference_reply: "right" }],
  })),
});

Deno.test("a file of grades gives and deletes; with one line that cannot be imported it changes nothing", async () => {
  const line = (scenario: number, value: number | null, author = "ann") =>
    JSON.stringify({ scenario, attempt_id: 1, turn: 0, value, author });
  const files: Record<string, string> = {
    "b.json": JSON.stringify(body),
    "far.jsonl": `${line(0, 1)}\n\n${line(9, 1)}\n${line(1, 1)}\n`,
    "none.jsonl": `${line(0, 1)}\n${line(1, null)}\n`,
    "twice.jsonl": `${line(0, 1)}\n${line(0, null)}\n${line(0, null)}\n`,
    "good.jsonl": `\ufeff${line(0, 1)}\n${line(0, null)}\n${line(0, 0.5)}\n${line(1, 1, "ben")}\n`,
  };
  const { run } = cliContext({ files, answer: () => "right" });
  await run("run", "b.json", "--threshold", "0");
  for (
    const [file, words] of [
      ["far.jsonl", "line 3: cannot import the grade of turn 9/1/0: the turn is not stored"],
      ["none.jsonl", "line 2: cannot delete the grade of turn 1/1/0: there is none"],
      ["twice.jsonl", "line 3: cannot delete the grade of turn 0/1/0: there is none"],
    ] as const
  ) {
    const { code, err } = await run("grades", "latest", "--import", file);
    assertEquals(code, 1);
    assertStringIncludes(err, `cannot import the grades: ${words}; no grade was imported\n`);
    assertEquals((await run("grades", "latest")).out, "no grades found\n");
  }
  const { code, err } = await run("grades", "latest", "--import", "good.jsonl");
  assertEquals([code, err], [0, "imported 4 grades\n"]);
  const { out } = await run("grades", "latest", "--json");
  assertEquals(out, `${line(0, 0.5)}\n${line(1, 1, "ben")}\n`);
  files["later.jsonl"] = `${line(1, null, "ben")}\n`;
  assertEquals((await run("grades", "latest", "--import", "later.jsonl")).code, 0);
  assertEquals((await run("grades", "latest", "--json")).out, `${line(0, 0.5)}\n`);
});

Deno.test("the command line imports, lists and compares grades", async () => {
  const line = (scenario: number, value: number, author: string) =>
    JSON.stringify({ scenario, attempt_id: 1, turn: 0, value, author });
  const files: Record<string, string> = {
    "b.json": JSON.stringify(body),
    "grades.jsonl": [0, 1, 2].flatMap((scenario) => [
      line(scenario, 0.2 * scenario, "ann"),
      line(scenario, 0.3 * scenario, "ben"),
    ]).join("\n") + "\n",
    "wrong.jsonl": `${line(0, 1, "ann")}\n${line(0, 7, "ann")}\n`,
    "list.jsonl": "[]\n",
    "text.jsonl": "a grade\n",
    "far.jsonl": line(9, 1, "ann"),
  };
  const { run } = cliContext({ files, answer: () => "right" });
  await run("run", "b.json", "--threshold", "0");
  assertEquals((await run("grades", "latest")).out, "no grades found\n");
  const imported = await run("grades", "latest", "--import", "grades.jsonl");
  assertEquals(imported.code, 0);
  assertStringIncludes(imported.err, "imported 6 grades");
  assertStringIncludes(imported.out, "0.600");
  const { out } = await run("grades", "latest", "--json");
  assertEquals(out, files["grades.jsonl"]);
  for (
    const [file, words] of [
      ["wrong.jsonl", "line 2: value: "],
      ["text.jsonl", "line 1: it is not JSON"],
      ["list.jsonl", "line 1: Invalid input: expected object"],
      ["far.jsonl", "cannot import the grade of turn 9/1/0: the turn is not stored"],
    ] as const
  ) {
    const { code, err } = await run("grades", "latest", "--import", file);
    assertEquals(code, 1);
    assertStringIncludes(err, words);
  }
  const { out: agreement } = await run("agreement", "latest");
  assertStringIncludes(agreement, "6 grades of 3 turns by 2 people");
  assertStringIncludes(agreement, "overall with people, over 3 turns");
  const { out: json } = await run("agreement", "latest", "--score", "token_f1", "--json");
  assertEquals(JSON.parse(json).judge.score, "token_f1");
});

const AT = ["--endpoint", "http://model.example/v1"];
const TWO = [...AT, "--model", "acme/good", "--model", "acme/bad"];

/** Models whose name has "bad" in it answer wrong. */
function targetOf({ model_id }: EvaluateRequest) {
  const content = model_id.includes("bad") ? "wrong" : "right";
  return { ask: () => Promise.resolve({ content, usage: null }) };
}

const groupContext = (options: CliOptions = {}) =>
  cliContext({ files: { "tests/support.jsonl": batchFile(9) }, targetOf, ...options });

Deno.test("several --model print the table and the verdicts, and each model is held against the threshold", async () => {
  const context = groupContext();
  const { code, out, err } = await context.run("run", "tests/support.jsonl", ...TWO);
  assertEquals(code, 100);
  assertMatch(err, /^group \S{36}\n/);
  assertMatch(
    out,
    /^Evaluation support: 2 models, completed\n {2}Group \S{36}\n {2}Turns 18 of 18\n/,
  );
  assertMatch(out, /acme\/good +1\.000 +\d\.\d{3} … 1\.000 +1\.000 +0/);
  assertMatch(out, /overall +1\.000 +0\.000\n/);
  assertMatch(out, /acme\/bad − acme\/good +-1\.000 .* 0\.0039 +acme\/good\n/);
  assertStringIncludes(out, "Best: acme/good\n");
  assert(
    out.endsWith(
      "\nacme/good: gate met: every scenario passes\n" +
        "acme/bad: gate not met: 9 of 9 turns do not pass\n",
    ),
    out,
  );
});

Deno.test("a group is decided by the score that --score names, and a reason says why it is not", async () => {
  const context = groupContext({ files: { "b.jsonl": batchFile(3) } });
  const { out } = await context.run("run", "b.jsonl", ...TWO, "--score", "chrf");
  assertStringIncludes(out, "Which is better by chrf\n");
  const { out: single } = await context.run("run", "b.jsonl", ...TWO);
  assertStringIncludes(single, "acme/bad − acme/good: too few scenarios: 3 of 3 differ");
});

Deno.test("all models pass: exit code 0; an endpoint that answers nothing for one: 1", async () => {
  const good = [...AT, "--model", "a", "--model", "b", "--model", "c"];
  assertEquals((await groupContext().run("run", "tests/support.jsonl", ...good)).code, 0);
  const { code, err, out } = await groupContext({
    targetOf: (request) =>
      request.model_id === "b"
        ? { ask: () => Promise.reject(new Error("a fault of ours")) }
        : targetOf(request),
  }).run("run", "tests/support.jsonl", ...good);
  assertEquals([code, out], [1, ""]);
  assertStringIncludes(err, "the run of b stopped: the service failed; see its log\n");
  assertMatch(err, /2 of 3 models are complete; continue with: assay-eval resume \S{36}\n$/);
});

Deno.test("a group is listed, shown and exported, also as JSON", async () => {
  const context = groupContext();
  const run = await context.run("run", "tests/support.jsonl", ...TWO, "--output", "g.json");
  const [id] = /\S{36}/.exec(run.err)!;
  const listed = await context.run("runs");
  assertMatch(listed.out, new RegExp(` acme/good +support +${id}\n`));
  const { runs } = JSON.parse((await context.run("runs", "--group", id!, "--json")).out);
  assertEquals(runs.map(({ group_id }: { group_id: string }) => group_id), [id, id]);
  const shown = await context.run("show", id!);
  assert(run.out.startsWith(shown.out), shown.out);
  const report = JSON.parse((await context.run("show", id!, "--json")).out);
  assertEquals(JSON.parse(context.files["g.json"]!), report);
  assertEquals(JSON.parse((await context.run("export", id!)).out), report);
  const { decided_by, tests } = JSON.parse(
    (await context.run("show", id!, "--json", "--score", "chrf")).out,
  );
  assertEquals([decided_by, tests], ["chrf", 1]);
});

Deno.test("a group is written in every format of a run", async () => {
  const context = groupContext({
    files: { "b.json": batchFile(9) },
    targetOf: (request) => targetOf(request),
  });
  const models = [...AT, "--model", "=cmd|bad", "--model", "@everyone"];
  const outputs = ["g.csv", "g.md", "g.xml", "g.jsonl", "g.html"].flatMap((
    file,
  ) => ["--output", file]);
  await context.run("run", "b.json", ...models, ...outputs);
  const rows = parse(context.files["g.csv"]!, { columns: true, bom: true }) as Record<
    string,
    string
  >[];
  const overall = rows.filter(({ score }) => score === "overall");
  assertEquals(overall.map(({ kind, model, against, value }) => [kind, model, against, value]), [
    ["model", "'=cmd|bad", "", "0"],
    ["model", "'@everyone", "", "1"],
    ["pair", "'@everyone", "'=cmd|bad", "1"],
  ]);
  assertEquals(overall[2]!.verdict, "improved");
  assertStringIncludes(context.files["g.md"]!, "| `@everyone` | 1.000 |");
  assertStringIncludes(context.files["g.md"]!, "- Best: `@everyone`\n");
  const { testsuite = [], ...total } = await parseJunit(
    context.files["g.xml"]!,
  ) as TestSuites;
  assertEquals([total.tests, total.failures, testsuite.length], [18, 9, 18]);
  assertEquals(testsuite[0]!.name, "=cmd|bad / s0");
  assertEquals(testsuite[17]!.name, "@everyone / s8");
  const lines = context.files["g.jsonl"]!.trim().split("\n").map((line) => JSON.parse(line));
  assertEquals(lines.map(({ model_name }) => model_name), [
    ...Array(9).fill("=cmd|bad"),
    ...Array(9).fill("@everyone"),
  ]);
  const page = context.files["g.html"]!;
  assertStringIncludes(page, '"best":["@everyone"]');
  const { runs: [run] } = JSON.parse((await context.run("runs", "--json")).out);
  const written = await context.run("export", run.group_id, "--format", "html");
  assert(written.out === page, written.err);
});

Deno.test("a group says which pairs are not decided, and its dataset", async () => {
  const context = groupContext({
    files: { "s.jsonl": batchFile(9) },
    targetOf: ({ model_id }) => ({
      ask(conversation) {
        const isFirst = conversation[0]!.content === "question 0";
        if (model_id === "faulty" && isFirst) return Promise.reject(providerError(500));
        const content = model_id === "worse" && isFirst ? "wrong" : "right";
        return Promise.resolve({ content, usage: null });
      },
    }),
  });
  await context.run("datasets", "put", "support", "s.jsonl");
  const models = ["good", "worse", "faulty"].flatMap((name) => ["--model", name]);
  const outputs = ["--output", "g.csv", "--output", "g.json"];
  const { out } = await context.run("run", "--dataset", "support", ...AT, ...models, ...outputs);
  assertMatch(out, /Dataset support@[0-9a-f]{32}\n/);
  assertMatch(out, /worse − good +-0\.111 .* inconclusive\n/);
  const rows = parse(context.files["g.csv"]!, { columns: true, bom: true }) as Record<
    string,
    string
  >[];
  const { runs: [{ dataset }] } = JSON.parse(context.files["g.json"]!);
  assertMatch(dataset, /^support@/);
  const find = (kind: string, model: string) =>
    rows.find((row) => row.kind === kind && row.model === model && row.score === "overall")!;
  assertEquals(find("pair", "worse").verdict, "inconclusive");
  assertEquals(Number(find("model", "faulty").value).toFixed(3), "0.889");
});

Deno.test("a group says of each model why calls failed and why scores are missing", async () => {
  const context = groupContext({
    targetOf: ({ model_id }) => ({
      ask() {
        if (model_id === "dead") return Promise.reject(providerError(401));
        return Promise.resolve({ content: "right", usage: null });
      },
    }),
    scoring: scoringPorts({
      judge: { name: "j", ask: () => Promise.reject(providerError(500)) },
    }),
  });
  const models = ["good", "dead"].flatMap((name) => ["--model", name]);
  const outputs = ["--output", "g.md", "--output", "g.json"];
  const { out } = await context.run("run", "tests/support.jsonl", ...AT, ...models, ...outputs);
  assertMatch(out, /\n {2}dead: Failed 9 × provider_error: .*401/);
  assertMatch(out, /\n {2}good: Missing 9 × judge: judge_unavailable\n/);
  assertMatch(context.files["g.md"]!, /\n- `dead`: Failed 9 × `provider_error`: `.*401/);
  const [good, dead] = JSON.parse(context.files["g.json"]!).runs;
  assertEquals(good.errors, []);
  assertEquals(good.missing_scores[0], { score: "judge", reason: "judge_unavailable", turns: 9 });
  assertEquals([dead.errors[0].code, dead.errors[0].turns], ["provider_error", 9]);
});

Deno.test("a group names three error codes of a model, and counts the others", async () => {
  const codes = ["provider_error", "provider_timeout", "provider_refused", "rate_limited"] as const;
  const context = groupContext({
    targetOf(request) {
      if (request.model_id === "good") return targetOf(request);
      let asked = 0;
      return {
        ask() {
          const code = codes[asked++ % codes.length]!;
          return Promise.reject(new ProviderError(502, code, "down", { kind: "timeout" }));
        },
      };
    },
  });
  const models = ["good", "dead"].flatMap((name) => ["--model", name]);
  const { out } = await context.run("run", "tests/support.jsonl", ...AT, ...models);
  assertEquals(out.match(/ dead: Failed \d × /g)?.length, 3);
  assertStringIncludes(out, "  dead: and 1 more error code\n");
});

Deno.test("a stopped group continues with resume, and what was asked is not asked again", async () => {
  let asked = 0;
  const stopped = groupContext({
    targetOf: (request) => ({
      ask() {
        if (++asked === 4) stopped.interrupt();
        return targetOf(request).ask();
      },
    }),
  });
  const models = [...AT, "--model", "a", "--model", "b", "--concurrency", "1"];
  const { code, err } = await stopped.run("run", "tests/support.jsonl", ...models);
  assertEquals(code, 130);
  const [, id] = /continue with: assay-eval resume (\S{36})/.exec(err)!;
  assertEquals((await stopped.store.groupRuns(id!)).map(({ status }) => status), [
    "interrupted",
    "interrupted",
  ]);
  const next = groupContext({
    store: stopped.store,
    targetOf: (request) => ({
      ask() {
        asked++;
        return targetOf(request).ask();
      },
    }),
  });
  const resumed = await next.run("resume", id!);
  assertEquals([resumed.code, asked], [0, 18]);
  assertStringIncludes(resumed.out, "No model was shown to be better than another one\n");
  assertEquals((await next.run("resume", id!)).code, 0);
});

Deno.test("a model whose run failed before Ctrl-C stays failed, and its reason is told", async () => {
  let asked = 0;
  const context = groupContext({
    targetOf: (request) => ({
      ask() {
        if (request.model_id === "a") throw new TypeError("a fault of ours");
        if (++asked === 3) context.interrupt();
        return targetOf(request).ask();
      },
    }),
  });
  const models = [...AT, "--model", "a", "--model", "b", "--concurrency", "1"];
  const { code, err } = await context.run("run", "tests/support.jsonl", ...models);
  assertEquals(code, 130);
  assertStringIncludes(err, "the run of a stopped: the service failed; see its log\n");
  const [, id] = /continue with: assay-eval resume (\S{36})/.exec(err)!;
  assertEquals((await context.store.groupRuns(id!)).map(({ status }) => status), [
    "failed",
    "interrupted",
  ]);
});

Deno.test("a model whose run did not complete is marked, and comes last", async () => {
  const context = groupContext({
    targetOf: (request) => ({
      ask() {
        if (request.model_id === "a") throw new TypeError("a fault of ours");
        return targetOf(request).ask();
      },
    }),
  });
  const models = [...AT, "--model", "a", "--model", "b", "--concurrency", "1"];
  const { err } = await context.run("run", "tests/support.jsonl", ...models);
  const [, id] = /continue with: assay-eval resume (\S{36})/.exec(err)!;
  const { out } = await context.run("show", id!);
  const [, first, second] = /Models\n\n.*\n.*\n(\S.*)\n(\S.*)\n/.exec(out)!;
  assertMatch(first!, /^b +[01]\.\d/);
  assertMatch(second!, /^a \(failed\) /);
});

Deno.test("a baseline is compared with each model by itself", async () => {
  const context = groupContext();
  await context.run("run", "tests/support.jsonl", ...AT, "--model", "acme/good");
  await context.run("tag", "latest", "main");
  const { code, out } = await context.run(
    "run",
    "tests/support.jsonl",
    ...TWO,
    ...["--min-pass-rate", "0", "--baseline", "tag:main", "--score", "overall"],
  );
  assertEquals(code, 100);
  assertStringIncludes(
    out,
    "\nacme/good: gate met: every scenario passes\nacme/bad: gate not met: ",
  );
  assertMatch(out, /regressed in overall; 9 new failures\n$/);
});

Deno.test("models of the command line replace those of the file, and wrong ones are refused", async () => {
  const targets = [
    { endpoint: "http://a.example", model_id: "m", name: "one" },
    { endpoint: "http://b.example", model_id: "m", name: "two" },
  ];
  const test_batch = batchFile(2).split("\n").map((line) => JSON.parse(line));
  const context = groupContext({
    files: { "b.json": JSON.stringify({ test_batch, targets }), "plain.json": batchFile(2) },
  });
  const own = await context.run("run", "b.json");
  assertEquals(own.code, 0);
  assertMatch(own.out, /score +one +two\n/);
  const one = await context.run("run", "b.json", ...AT, "--model", "x");
  assertMatch(
    one.out,
    /^Evaluation b: \d+ of \d+ scenarios? pass(?:es)?\n {2}Model x at http:\/\/model\.example\/v1\n/,
  );
  const twice = await context.run("run", "plain.json", ...AT, "--model", "x", "--model", "x");
  assertEquals(twice.code, 1);
  assertStringIncludes(twice.err, "model_ids.1: is the same as model_ids.0");
});

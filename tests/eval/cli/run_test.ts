import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import type { TargetReply } from "../../../eval/ask/reply.ts";
import type { InteractionResult } from "../../../eval/test/interaction_result.ts";
import { batchFile, cliContext } from "../../fakes/cli_context.ts";
import { providerError } from "../../fakes/eval_ports.ts";
import { memoryStore } from "../../fakes/memory_store.ts";
import { fakeJudge, scoringPorts } from "../../fakes/scoring_ports.ts";

const target = ["--endpoint", "http://model.example/v1", "--model", "acme/model"];

Deno.test("a run that passes shows its averages and ends with 0", async () => {
  const { run, asked } = cliContext({
    files: { "tests/support.jsonl": batchFile(3) },
    answer: () => "right",
  });
  const { code, out, err } = await run("run", "tests/support.jsonl", ...target, "--attempts", "2");
  assertEquals(code, 0);
  assertEquals(asked.length, 6);
  assertMatch(
    out,
    /^Evaluation support: 3 of 3 scenarios pass\n {2}Model acme\/model at .*\n {2}Run \S{36}, completed\n/,
  );
  assertStringIncludes(out, "Turns 6 of 6: 6 pass, 0 do not");
  assertMatch(out, /overall +1\.000 +6\n/);
  assert(out.endsWith("\ngate met: every scenario passes\n"), out);
  assert(err.endsWith("\n6/6 turns\n"), err); // the report has the mean
  assert(!err.includes("\r"), "a log gets plain lines");
});

Deno.test("a run below the threshold ends with 100 and says so", async () => {
  const { run } = cliContext({
    files: { "b.json": batchFile(4) },
    answer: (_, call) => call === 1 ? "wrong" : "right",
  });
  const strict = await run("run", "b.json", ...target, "--threshold", "0.8");
  assertEquals(strict.code, 100);
  assertStringIncludes(strict.out, "gate not met: overall 0.75 is below 0.8\n");
  assertMatch(strict.out, /Lowest scenarios\n\n.*\n-.*\ns0 +0\.000 +1 of 1 +0\n/);
});

Deno.test("a complete run that is resumed has the same report", async () => {
  const { run } = cliContext({
    files: { "b.jsonl": batchFile(90) },
    answer: (_, call) => {
      if (call % 7 === 0) throw providerError(500);
      return call % 3 === 0 ? "wrong" : "right";
    },
  });
  const { out } = await run("run", "b.jsonl", ...target, "--attempts", "2");
  assertStringIncludes(out, "Turns 180 of 180");
  assertEquals((await run("resume", "latest")).out, out);
});

Deno.test("by default every scenario must pass; a pass rate or a mean can be asked for instead", async () => {
  const { run, store } = cliContext({
    files: { "b.json": batchFile(4) },
    answer: (_, call) => call % 4 === 1 ? "wrong" : "right",
  });
  const gate = async (...options: string[]) => {
    const { code, out } = await run("run", "b.json", ...target, ...options);
    const { runs: [stored] } = await store.listRuns({ limit: 1 });
    return [code, stored!.gate, out.trimEnd().split("\n").at(-1)];
  };
  const unpassed = "1 of 4 turns does not pass";
  assertEquals(await gate(), [100, "failed", `gate not met: ${unpassed}`]);
  assertEquals(await gate("--min-pass-rate", "0.8"), [
    100,
    "failed",
    `gate not met: the pass rate is 0.75, needed 0.8: ${unpassed}`,
  ]);
  assertEquals(await gate("--min-pass-rate", "0.75"), [
    0,
    "passed",
    `gate met: the pass rate 0.75 reaches 0.75; ${unpassed}`,
  ]);
  assertEquals(await gate("--threshold", "0.75"), [
    0,
    "passed",
    `gate met: overall 0.75 reaches 0.75; ${unpassed}`,
  ]);
});

Deno.test("--fail-on contradiction holds a mean gate against replies that contradict their reference", async () => {
  const batch = ["one", "two"].map((id) => ({
    id,
    interactions: [{
      id,
      user_message: id,
      reference_reply: "It is open for 30 days, every week.",
    }],
  }));
  const { run } = cliContext({
    files: { "b.json": JSON.stringify(batch) },
    answer: (question) =>
      `It is open for ${question.at(-1)!.content === "one" ? 30 : 60} days, every week.`,
  });
  const options = ["run", "b.json", ...target, "--threshold", "0.5"];
  assertEquals((await run(...options)).code, 0);
  const { code, out } = await run(...options, "--fail-on", "contradiction");
  assertEquals(code, 100);
  assert(out.endsWith("\ngate not met: 1 reply contradicts its reference\n"), out);
  assertStringIncludes(out, "why: wrong value: 60 days instead of 30 days");
  assertEquals((await run(...options, "--fail-on", "rain")).code, 1);
});

Deno.test("without a threshold on the command line the batch's own holds, else 0.7", async () => {
  const near = { answer: () => "right or not" }; // about 0.75
  const body = JSON.stringify({
    test_batch: batchFile(2).split("\n").map((line) => JSON.parse(line)),
    pass_threshold: 0.9,
  });
  const { run } = cliContext({ files: { "own.json": body, "none.json": batchFile(2) }, ...near });
  assertEquals((await run("run", "own.json", ...target)).code, 100);
  assertEquals((await run("run", "none.json", ...target)).code, 0);
});

Deno.test("an endpoint that answers nothing ends with 1, and the report never says that it is met", async () => {
  const { run } = cliContext({
    files: { "b.json": batchFile(3) },
    answer: () => {
      throw providerError(401);
    },
  });
  for (const threshold of ["0.7", "0"]) {
    const { code, out } = await run("run", "b.json", ...target, "--threshold", threshold);
    assertEquals(code, 1);
    assertStringIncludes(out, "Evaluation b: no turn was answered\n");
    assertStringIncludes(out, "Failed 3 × provider_error: the endpoint answered 401");
    assertStringIncludes(out, "gate not met: the endpoint did not answer a single turn");
  }
});

Deno.test("a threshold for a run without any score is an error, not a pass", async () => {
  const batch = JSON.stringify([{ id: "s", interactions: [{ id: "t", user_message: "hi" }] }]);
  const { run } = cliContext({ files: { "b.json": batch } });
  assertEquals((await run("run", "b.json", ...target, "--threshold", "0.5")).code, 1);
  assertEquals((await run("run", "b.json", ...target)).code, 0);
});

Deno.test("missing grades count 0, also for a mean gate", async () => {
  // A judge that grades the first of four turns and then fails; similarity and grade count alike.
  let grades = 0;
  const { judge } = fakeJudge(() => {
    if (grades++ > 0) throw providerError(500);
    return '{"reason": "fine", "grade": 10}';
  });
  const { run } = cliContext({
    files: { "b.json": batchFile(4) },
    answer: () => "right",
    scoring: scoringPorts({ judge }),
  });
  const open = await run("run", "b.json", ...target, "--threshold", "0.8");
  assertEquals(open.code, 100);
  assertStringIncludes(open.err, "4/4 turns, 3 with a missing score");
  assertStringIncludes(open.out, "Missing 3 × judge: judge_unavailable");
  assertStringIncludes(
    open.out,
    "gate not met: overall 0.25 is below 0.8; failed calls and missing scores count 0: 3 of 4 " +
      "turns do not pass (3 missing scores)\n",
  );
  grades = 0;
  assertEquals((await run("run", "b.json", ...target, "--threshold", "0.25")).code, 0);
});

Deno.test("a judge that is down is no regression and no new failure: retry the run", async () => {
  let isDown = false;
  const { judge } = fakeJudge(() => {
    if (isDown) throw providerError(500);
    return '{"reason": "fine", "grade": 10}';
  });
  const { run } = cliContext({
    files: { "b.json": batchFile(8) },
    answer: () => "right",
    scoring: scoringPorts({ judge }),
  });
  assertEquals((await run("run", "b.json", ...target)).code, 0);
  isDown = true;
  const compared = ["--baseline", "latest", "--min-pass-rate", "0"];
  const { code, out } = await run("run", "b.json", ...target, ...compared);
  assertStringIncludes(out, "8 of the candidate without a score");
  assertEquals(code, 0, out);
  const strict = await run("run", "b.json", ...target, "--baseline", "latest");
  assertEquals(strict.code, 100);
  assert(
    strict.out.endsWith("gate not met: 8 of 8 turns do not pass (8 missing scores)\n"),
    strict.out,
  );
});

Deno.test("a regression against the baseline ends with 100", async () => {
  let reply = "right";
  const { run } = cliContext({ files: { "b.json": batchFile(12) }, answer: () => reply });
  await run("run", "b.json", ...target);
  reply = "right or not"; // half of the words
  const { code, out } = await run(
    ...["run", "b.json", ...target, "--min-pass-rate", "0", "--baseline", "latest"],
  );
  assertEquals(code, 100);
  assertMatch(out, /Compared with [0-9a-f-]{36}: overall regressed \(.*\)\n/);
  assertMatch(out, /gate not met: regressed in overall\n/);
});

Deno.test("a score that the baseline lacks is found out before the run", async () => {
  const { run, asked } = cliContext({ files: { "b.json": batchFile(2) }, answer: () => "right" });
  await run("run", "b.json", ...target);
  const baseline = ["--baseline", "latest"];
  const { code, err } = await run("run", "b.json", ...target, ...baseline, "--score", "bleu9");
  assertEquals([code, asked.length], [1, 2]);
  assertStringIncludes(err, "the baseline has no score bleu9");
});

Deno.test("the same model against itself is inconclusive, which passes", async () => {
  const { run } = cliContext({ files: { "b.json": batchFile(12) }, answer: () => "right" });
  await run("run", "b.json", ...target);
  const { code, out } = await run("run", "b.json", ...target, "--baseline", "latest");
  assertEquals(code, 0);
  assertStringIncludes(out, ": overall inconclusive (");
});

Deno.test("a file that cannot be written costs neither the verdict nor the other files", async () => {
  const context = cliContext({ files: { "b.json": batchFile(2) }, answer: () => "right" });
  const outputs = ["full.json", "r.xml", "full.md"].flatMap((name) => ["--output", name]);
  for (const models of [target, [...target, "--model", "other"]]) {
    const { code, out, err } = await context.run("run", "b.json", ...models, ...outputs);
    assertEquals(code, 1);
    assertMatch(out, /\bgate met: every scenario passes\n$/);
    assertStringIncludes(
      err,
      "wrote r.xml\nassay-eval run: cannot write full.json: no space left\n" +
        "cannot write full.md: no space left\n",
    );
    delete context.files["r.xml"];
    const { runs: [run] } = await context.store.listRuns({ limit: 1 });
    assertEquals(run!.gate, "passed");
  }
});

Deno.test("outputs are written in the format of their endings, with the comparison", async () => {
  const context = cliContext({ files: { "b.json": batchFile(2) }, answer: () => "right" });
  await context.run("run", "b.json", ...target);
  const names = ["r.json", "r.jsonl", "r.csv", "r.xml", "r.md"];
  const { code, err } = await context.run(
    ...["run", "b.json", ...target, "--baseline", "latest"],
    ...names.flatMap((name) => ["--output", name]),
  );
  assertEquals(code, 0);
  assertEquals(JSON.parse(context.files["r.json"]!).results.scenarios.length, 2);
  assertEquals(context.files["r.jsonl"]!.trim().split("\n").length, 2);
  assert(context.files["r.csv"]!.startsWith('\ufeff"run_id","scenario_id"'));
  assert(context.files["r.xml"]!.startsWith("<?xml"));
  assertStringIncludes(context.files["r.md"]!, "### Compared with");
  for (const name of names) assertStringIncludes(err, `wrote ${name}\n`);
});

Deno.test("a page written by run or by export explains the scores", async () => {
  const context = cliContext({ files: { "b.json": batchFile(1) }, answer: () => "right" });
  await context.run("run", "b.json", ...target, "--output", "r.html");
  const [{ run_id }] = JSON.parse((await context.run("runs", "--json")).out).runs;
  const exported = await context.run("export", run_id, "--format", "html");
  for (const page of [context.files["r.html"]!, exported.out]) {
    assertStringIncludes(
      page,
      '"definition":"how near the reply and the reference are in meaning"',
    );
  }
});

const mistakes: [name: string, args: string[], message: string][] = [
  ["no batch", [...target], "BATCH is missing"],
  ["two batches", ["b.json", "c.json", ...target], 'unexpected argument "c.json"'],
  ["no endpoint", ["b.json", "--model", "m"], "endpoint (--endpoint URL)"],
  ["an unknown option", ["b.json", "--bogus"], "Unknown option '--bogus'"],
  ["a threshold over 1", ["b.json", ...target, "--threshold", "70"], "--threshold must be"],
  [
    "attempts over the limit",
    ["b.json", ...target, "--attempts", "1001"],
    "attempts (--attempts N): ",
  ],
  ["an unknown protocol", ["b.json", ...target, "--protocol", "soap"], "protocol (--protocol P)"],
  ["half an attempt", ["b.json", ...target, "--attempts", "1.5"], "a whole number"],
  ["no concurrency", ["b.json", ...target, "--concurrency", "0"], "--concurrency must be"],
  ["an unknown ending", ["b.json", ...target, "-o", "r.pdf"], ".json .jsonl .csv .xml"],
  ["a file that cannot be written", ["b.json", ...target, "-o", "/r.xml"], "cannot write /r.xml"],
  ["a batch that is not there", ["none.json", ...target], "cannot read none.json"],
  ["a score to compare with nothing", ["b.json", ...target, "--score", "overall"], "--baseline"],
  ["a baseline that is not there", ["b.json", ...target, "--baseline", "x"], "cannot find run x"],
];
for (const [name, args, message] of mistakes) {
  Deno.test(`a command line with ${name} ends with 1 before anything is asked`, async () => {
    const { run, asked, store } = cliContext({ files: { "b.json": batchFile(1) } });
    const { code, out, err } = await run("run", ...args);
    assertEquals([code, out], [1, ""]);
    assertStringIncludes(err, message);
    assertStringIncludes(err, 'see "assay-eval run --help"');
    assertEquals(asked.length, 0);
    assertEquals((await store.listRuns({ limit: 1 })).runs, []);
  });
}

Deno.test("an endpoint that the configuration does not allow is not asked", async () => {
  const { run, asked } = cliContext({
    files: { "b.json": batchFile(1) },
    environment: { EVAL_ENDPOINTS: "https://other.example" },
  });
  const { code, err } = await run("run", "b.json", ...target);
  assertEquals([code, asked.length], [1, 0]);
  assertStringIncludes(err, "not listed in EVAL_ENDPOINTS");
});

Deno.test("the number of conversations at once can be chosen", async () => {
  const { run, concurrencies } = cliContext({ files: { "b.json": batchFile(1) } });
  await run("run", "b.json", ...target, "--concurrency", "3");
  assertEquals(concurrencies, [3]);
});

Deno.test("on a terminal progress is a bar", async () => {
  const { run } = cliContext({ files: { "b.json": batchFile(2) }, isTerminal: true });
  const { err } = await run("run", "b.json", ...target);
  assertStringIncludes(err, "\r\x1b[K████████████████████████ 2/2 turns");
});

Deno.test("on a terminal a file is named while it is written, and in a log once it is there", async () => {
  const files = { "b.json": batchFile(1) };
  const write = async (isTerminal: boolean) => {
    const { run } = cliContext({ files, isTerminal });
    await run("run", "b.json", ...target);
    return (await run("export", "latest", "-o", "a.html", "-o", "full.md")).err;
  };
  const [shown, logged] = [await write(true), await write(false)];
  assert(shown.startsWith("writing a.html\r\x1b[Kwrote a.html\nwriting full.md\r\x1b[K"), shown);
  assert(logged.startsWith("wrote a.html\nassay-eval export: cannot write full.md"), logged);
});

Deno.test("tests of promptfoo are run, and what cannot be imported is reported", async () => {
  const config = "prompts: ['Say {{word}}']\ntests:\n  - vars: {word: right}\n    assert:\n" +
    "      - {type: contains, value: right}\n      - {type: python, value: len(output)}\n";
  const { run, asked } = cliContext({ files: { "p.yaml": config }, answer: () => "right" });
  const { code, err } = await run("run", "p.yaml", ...target);
  assertEquals([code, asked.length], [0, 1]);
  assertStringIncludes(
    err,
    "left out: assertions of the type python (first in line 3)\n",
  );
});

const usage = { input_tokens: 6, output_tokens: 4, total_tokens: 10 };

/** A model whose replies take 10 tokens each. */
function countingModel(reply: Partial<TargetReply> = {}) {
  let calls = 0;
  const cli = cliContext({
    files: { "b.jsonl": batchFile(20) },
    target: {
      isPriced: true,
      ask: () => {
        calls++;
        return Promise.resolve({ content: "right", usage, latencyMs: 1, ...reply });
      },
    },
  });
  return { ...cli, calls: () => calls };
}

Deno.test("a run ends when its tokens are spent, says so, and continues with a higher cap", async () => {
  const { run, store, calls } = countingModel();
  const ended = await run(
    ...["run", "b.jsonl", ...target, "--concurrency", "1", "--max-tokens", "50"],
  );
  assertEquals(ended.code, 1, ended.err);
  assertStringIncludes(ended.err, "the run stopped: its budget of 50 tokens is spent (50)\n");
  assertStringIncludes(ended.err, "5 of 20 turns are stored; continue with: assay-eval resume");
  assertEquals(calls(), 5);
  const { runs: [stored] } = await store.listRuns({ limit: 1 });
  assertEquals([stored!.status, stored!.detail, stored!.tally?.done], [
    "interrupted",
    "its budget of 50 tokens is spent (50)",
    5,
  ]);

  const same = await run("resume", "latest", "--concurrency", "1");
  assertStringIncludes(same.err, "its budget of 50 tokens is spent (50)\n");
  assertEquals(calls(), 5, "what was spent before counts");
  const more = await run("resume", "latest", "--concurrency", "1", "--max-tokens", "200");
  assertEquals([more.code, calls()], [0, 20], more.err);
});

Deno.test("a run that spends its budget with the last turn is complete", async () => {
  const { run } = countingModel();
  const { code, err } = await run("run", "b.jsonl", ...target, "--max-tokens", "200");
  assertEquals(code, 0, err);
});

Deno.test("a run ends when its money is spent, or if nobody knows what it costs", async () => {
  const priced = countingModel({ cost: { amount: 0.25, currency: "EUR" } });
  const cap = ["--concurrency", "1", "--max-cost", "0.6"];
  const spent = await priced.run("run", "b.jsonl", ...target, ...cap);
  assertEquals([spent.code, priced.calls()], [1, 3]);
  assertStringIncludes(spent.err, "its budget of 0.6 is spent (0.75)\n");
  const unpriced = countingModel({ cost: null });
  const free = await unpriced.run("run", "b.jsonl", ...target, ...cap);
  assertStringIncludes(free.err, "its budget cannot be kept: the model has no price (PRICES)");
  const uncounted = countingModel({ usage: null });
  const unknown = await uncounted.run("run", "b.jsonl", ...target, "--max-tokens", "50");
  assertStringIncludes(unknown.err, "cannot be kept: the endpoint does not report tokens");
  assert(uncounted.calls() < 20);
});

/** Four scenarios, two of them with a tag. */
const batch = Array.from({ length: 4 }, (_, index) =>
  JSON.stringify({
    id: `s${index}`,
    ...(index > 1 && { tags: ["refund", "slow"] }),
    interactions: [{ id: "t", user_message: `question ${index}`, reference_reply: "right" }],
  })).join("\n");

function model() {
  const state: { answer: (question: string) => string } = { answer: () => "right" };
  const cli = cliContext({
    files: { "support.jsonl": batch },
    answer: (asked) => state.answer(asked.at(-1)!.content),
  });
  const questions = (from: number) => cli.asked.slice(from).map((asked) => asked.at(-1)!.content);
  return { ...cli, state, questions };
}

Deno.test("--only runs scenarios by their ids, their tags, or that failed in a run", async () => {
  const { run, state, asked, questions } = model();
  const only = async (...words: string[]) => {
    const before = asked.length;
    const ended = await run(
      ...["run", "support.jsonl", ...target, ...words.flatMap((word) => ["--only", word])],
    );
    assertEquals(ended.code, 0, ended.err);
    return questions(before).sort();
  };
  assertEquals(await only("s1"), ["question 1"]);
  assertEquals(await only("refund", "s0"), ["question 0", "question 2", "question 3"]);
  let calls = 0;
  state.answer = (question) => question === "question 2" && calls++ === 0 ? "wrong" : "right";
  await run("run", "support.jsonl", ...target, "--attempts", "2", "--threshold", "0.8");
  state.answer = () => "right";
  assertEquals(await only("failed:latest"), ["question 2"], "it passed in one of two attempts");

  const { code, err } = await run("run", "support.jsonl", ...target, "--only", "nothing");
  assertEquals(code, 1);
  assertStringIncludes(
    err,
    "only (--only WHICH): nothing: no scenario of the batch has this id or tag",
  );
  const none = await run("run", "support.jsonl", ...target, "--only", "failed:latest");
  assertStringIncludes(none.err, "no scenario of the batch failed there");
});

Deno.test("a run of a part is no baseline of the whole", async () => {
  const { run, files } = model();
  await run("run", "support.jsonl", ...target, "-o", "whole.json");
  const { run_id: whole } = JSON.parse(files["whole.json"]!);
  await run("run", "support.jsonl", ...target, "--only", "s1", "-o", "part.json");
  assertEquals(JSON.parse(files["part.json"]!).only, ["s1"]);
  const { err } = await run("run", "support.jsonl", ...target, "--baseline", "latest");
  assertStringIncludes(err, `baseline ${whole}\n`);
});

Deno.test("--retry-failed asks again what failed, and keeps the rest", async () => {
  const { run, state, asked, questions, store } = model();
  state.answer = (question) => {
    if (question === "question 1") throw providerError(500);
    return "right";
  };
  const first = await run("run", "support.jsonl", ...target);
  assertEquals(first.code, 100, "three of four are right");
  state.answer = () => "right";
  const before = asked.length;
  const retried = await run("run", "--retry-failed", "latest", "--threshold", "1");
  assertEquals(retried.code, 0, retried.out + retried.err);
  assertEquals(questions(before), ["question 1"]);
  assertStringIncludes(retried.out, "Turns 4 of 4: 4 pass");
  const [run1, run0] = (await store.listRuns({ limit: 2 })).runs;
  assertEquals(run1!.parentId, run0!.id);

  const again = await run("run", "--retry-failed", "latest");
  assertEquals(again.code, 1);
  assertStringIncludes(again.err, "no turn of it failed or lacks a score");
  const both = await run("run", "--retry-failed", "latest", "--model", "other");
  assertStringIncludes(both.err, "--model cannot be used with --retry-failed");
});

const secretTarget = ["--endpoint", "http://model.example/v1?project=hidden", "--model", "m"];

/** One scenario of three turns with this score, or with what `change` makes of it. */
function scoredWorld(
  overall: number,
  change: (turn: number) => Partial<InteractionResult> = () => ({}),
) {
  const interactions = ["a", "b", "c"].map((id) => ({
    id,
    user_message: id,
    reference_reply: "right",
  }));
  const store = memoryStore();
  return cliContext({
    files: { "b.json": JSON.stringify([{ id: "s", interactions }]) },
    store: {
      ...store,
      recordTurn: (id, turn) =>
        store.recordTurn(id, {
          ...turn,
          result: { ...turn.result, scores: { overall }, ...change(turn.turn) },
        }),
    },
  });
}

Deno.test("three turns of 0.7 end with 0 at a threshold of 0.7, and of less with 100", async () => {
  assertEquals((await scoredWorld(0.7).run("run", "b.json", ...secretTarget)).code, 0);
  assertEquals((await scoredWorld(0.6999).run("run", "b.json", ...secretTarget)).code, 100);
});

Deno.test("the mean reads as in the table above it, and never as if it reached the threshold", async () => {
  const reasonOf = async (overall: number) =>
    (await scoredWorld(overall).run("run", "b.json", ...secretTarget, "--threshold", "0.7")).out
      .trimEnd().split("\n").at(
        -1,
      );
  assertEquals(await reasonOf(0.6), "gate not met: overall 0.6 is below 0.7"); // 0.5999999999999999
  assertEquals(await reasonOf(0.6746), "gate not met: overall 0.675 is below 0.7");
  assertEquals(await reasonOf(0.69999), "gate not met: overall 0.699 is below 0.7");
});

Deno.test("a terminal shows the endpoint without its query", async () => {
  const { out, err } = await scoredWorld(1).run("run", "b.json", ...secretTarget);
  assert(out.includes("at http://model.example/v1\n"), out);
  assert(!(out + err).includes("hidden"), out + err);
});

Deno.test("a failed call counts 0 in a mean gate, which says so", async () => {
  const store = memoryStore();
  const error = { code: "provider_error", status: 500, detail: "" };
  const { run } = cliContext({
    files: {
      "b.json": JSON.stringify(
        ["a", "b"].map((id) => ({
          id,
          interactions: [{ id, user_message: id, reference_reply: "right" }],
        })),
      ),
    },
    store: {
      ...store,
      recordTurn: (id, turn) => {
        const own = turn.scenario === 0
          ? { scores: { overall: 1 } }
          : { scores: { overall: 0 }, error };
        return store.recordTurn(id, { ...turn, result: { ...turn.result, ...own } });
      },
    },
  });
  const { code, out } = await run("run", "b.json", ...secretTarget, "--threshold", "0.7");
  assertEquals(code, 100);
  assert(out.startsWith("Evaluation b: 1 of 2 scenarios passes\n"), out);
  const words = "overall 0.5 is below 0.7; failed calls and missing scores count 0: 1 of 2 turns";
  assert(out.includes(words), out);
});

Deno.test("a required check that cannot be decided does not pass, however good the scores are", async () => {
  const store = memoryStore();
  const { run } = cliContext({
    files: {
      "b.json": JSON.stringify([{ id: "s", interactions: [{ id: "i", user_message: "Hi" }] }]),
    },
    store: {
      ...store,
      recordTurn: (id, turn) => {
        const check = { name: "polite", type: "judge", weight: 1, required: true, value: null };
        const own = {
          scores: { overall: null },
          missing_scores: { checks: "polite: judge_unavailable", overall: "without checks" },
          check_results: [check],
        };
        return store.recordTurn(id, { ...turn, result: { ...turn.result, ...own } });
      },
    },
  });
  const { code, out } = await run("run", "b.json", ...secretTarget);
  assertEquals(code, 100);
  assert(out.startsWith("Evaluation b: 0 of 1 scenario passes\n"), out);
  assert(out.endsWith("gate not met: 1 of 1 turn does not pass (1 missing score)\n"), out);
});

Deno.test("a run that expects nothing passes, and the last line says that nothing was scored", async () => {
  const interactions = [{ id: "i", user_message: "Hi" }];
  const { run } = cliContext({ files: { "b.json": JSON.stringify([{ id: "s", interactions }]) } });
  const { code, out } = await run("run", "b.json", ...secretTarget);
  assertEquals(code, 0);
  assert(out.startsWith("Evaluation b: not scored\n"), out);
  assertStringIncludes(out, "\ngate met, but no turn was scored: no reference, label, check");
});

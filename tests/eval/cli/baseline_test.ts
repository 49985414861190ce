import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import type { ConversationMessage } from "../../../eval/ask/target.ts";
import { batchFile, cliContext } from "../../fakes/cli_context.ts";
import { providerError } from "../../fakes/eval_ports.ts";

const on = (endpoint: string) => ["--endpoint", endpoint, "--model", "acme/model"];
const target = on("http://model.example/v1");

/** Replies of one quality until it is changed. */
function model(files: Record<string, string> = { "support.jsonl": batchFile(12) }) {
  const state: { answer: (asked?: ConversationMessage[]) => string } = { answer: () => "right" };
  const cli = cliContext({ files, answer: (asked) => state.answer(asked) });
  return {
    ...cli,
    state,
    /** Runs a batch, and returns the run's id with the rest. */
    async evaluate(...args: string[]) {
      const [file = "", ...options] = args;
      const ended = await cli.run("run", file, ...target, ...options);
      return { ...ended, id: /^run (\S{36})$/m.exec(ended.err)?.[1] ?? "" };
    },
  };
}

Deno.test("the latest baseline is the last run of the same test, not of anything", async () => {
  const files = { "support.jsonl": batchFile(12), "other.jsonl": batchFile(3) };
  const { evaluate, state } = model(files);
  const own = await evaluate("support.jsonl");
  await evaluate("other.jsonl");
  state.answer = () => "wrong";
  const worse = await evaluate("support.jsonl", "--baseline", "latest", "--min-pass-rate", "0");
  assertEquals(worse.code, 100, worse.out + worse.err);
  assertStringIncludes(worse.err, `baseline ${own.id}`);
  assertStringIncludes(worse.out, "gate not met: regressed in");
});

Deno.test("a run that failed its gate is never the latest baseline", async () => {
  const { evaluate, state } = model();
  const good = await evaluate("support.jsonl");
  state.answer = () => "wrong";
  const regressed = await evaluate("support.jsonl", "--baseline", "latest", "--threshold", "0");
  assertEquals(regressed.code, 100);
  const again = await evaluate("support.jsonl", "--baseline", "latest", "--threshold", "0");
  assertEquals(again.code, 100, "the regression is not the new normal");
  assertStringIncludes(again.err, `baseline ${good.id}`);
});

Deno.test("a run whose endpoint failed is never the latest baseline", async () => {
  const { evaluate, state, store } = model();
  const good = await evaluate("support.jsonl");
  let calls = 0;
  state.answer = () => {
    if (calls++ < 4) throw providerError(500);
    return "right";
  };
  const shaky = await evaluate("support.jsonl", "--min-pass-rate", "0");
  assertEquals([shaky.code, (await store.getRecord(shaky.id))?.gate], [0, "passed"]);
  const next = await evaluate("support.jsonl", "--baseline", "latest");
  assertStringIncludes(next.err, `baseline ${good.id}`);
});

Deno.test("the same batch under another name is the same test", async () => {
  const { evaluate } = model();
  const before = await evaluate("support.jsonl", "--name", "before");
  const after = await evaluate("support.jsonl", "--name", "after", "--baseline", "latest");
  assertEquals(after.code, 0, after.err);
  assertStringIncludes(after.err, `baseline ${before.id}`);
});

Deno.test("a run of another kind of endpoint is not the latest baseline", async () => {
  const body = (protocol: string) =>
    JSON.stringify({
      test_batch: batchFile(2).split("\n").map((line) => JSON.parse(line)),
      test_name: "t",
      protocol,
    });
  const { evaluate } = model({ "agent.json": body("agent"), "openai.json": body("openai") });
  const own = await evaluate("openai.json");
  await evaluate("agent.json");
  const next = await evaluate("openai.json", "--baseline", "latest");
  assertStringIncludes(next.err, `baseline ${own.id}`);
});

Deno.test("a run with another history is not the latest baseline", async () => {
  const { evaluate } = model();
  const generated = await evaluate("support.jsonl");
  const reference = await evaluate("support.jsonl", "--history", "reference");
  const latest = async (...history: string[]) =>
    /^baseline (\S+)$/m.exec(
      (await evaluate("support.jsonl", "--baseline", "latest", ...history)).err,
    )
      ?.[1];
  assertEquals(await latest("--history", "generated"), generated.id);
  assertEquals(await latest("--history", "reference"), reference.id);
});

/** Scenarios of two turns, as a batch file. */
function twoTurns(count: number): string {
  return Array.from({ length: count }, (_, index) => {
    const turn = (id: string) => ({
      id,
      user_message: `${id} ${index}?`,
      reference_reply: "right",
    });
    return JSON.stringify({ id: `s${index}`, interactions: [turn("a"), turn("b")] });
  }).join("\n");
}

Deno.test("of runs with different histories all turns are compared, and it is said", async () => {
  const { evaluate } = model({ "support.jsonl": twoTurns(12) });
  const reference = await evaluate("support.jsonl", "--history", "reference");
  const { out } = await evaluate("support.jsonl", "--baseline", reference.id);
  assertStringIncludes(out, "one run was asked after its own replies");
});

Deno.test("without a baseline nothing is run and the exit code is 1, unless it is optional", async () => {
  const { evaluate, asked, run } = model();
  for (const name of ["latest", "tag:main", "0198c0de-1111-7000-8000-000000000000"]) {
    const { code, err } = await evaluate("support.jsonl", "--baseline", name);
    assertEquals(code, 1, err);
    assertStringIncludes(err, "--baseline-optional");
  }
  assertEquals(asked.length, 0);
  const first = await evaluate("support.jsonl", "--baseline", "latest", "--baseline-optional");
  assertEquals(first.code, 0);
  assertStringIncludes(first.err, "nothing is compared");
  const alone = await run("run", "support.jsonl", ...target, "--baseline-optional");
  assertStringIncludes(alone.err, "--baseline-optional requires --baseline");
});

Deno.test("a baseline that has nothing in common with the run ends with 1, unless it is optional", async () => {
  const other = JSON.stringify({
    id: "another",
    interactions: [{ id: "t", user_message: "?", reference_reply: "right" }],
  });
  const { evaluate } = model({ "support.jsonl": batchFile(3), "other.json": other });
  const { id } = await evaluate("other.json");
  const strict = await evaluate("support.jsonl", "--baseline", id);
  assertEquals(strict.code, 1);
  assertStringIncludes(
    strict.out,
    "gate not met: overall cannot be compared: the runs have no scenario in common\n",
  );
  assertStringIncludes(
    strict.out,
    "gate not met: overall cannot be compared: the runs have no scenario in common",
  );
  const optional = await evaluate("support.jsonl", "--baseline", id, "--baseline-optional");
  assertEquals(optional.code, 0);
  assertStringIncludes(optional.out, "\ngate met: every scenario passes\n");
});

Deno.test("a tag names a run for every command, until it names another", async () => {
  const { evaluate, run, state } = model();
  const main = await evaluate("support.jsonl");
  const tagged = await run("tag", "latest", "release/1.2");
  assertEquals([tagged.code, tagged.out], [0, `tag:release/1.2 is run ${main.id}\n`]);
  state.answer = () => "wrong";
  await evaluate("support.jsonl", "--threshold", "0");
  const gate = ["--baseline", "tag:release/1.2", "--threshold", "0"];
  assertEquals((await evaluate("support.jsonl", ...gate)).code, 100);
  assertStringIncludes((await run("show", "tag:release/1.2")).out, main.id);
  await run("tag", "latest", "release/1.2");
  assertEquals((await evaluate("support.jsonl", ...gate)).code, 0);
});

Deno.test("a name that could not be typed, or a run that is not complete, gets no tag", async () => {
  const { evaluate, run, store } = model();
  const { id } = await evaluate("support.jsonl");
  assertEquals((await run("tag", id, "with blank")).code, 1);
  await store.setStatus(id, { status: "interrupted" });
  const { code, err } = await run("tag", id, "main");
  assertEquals(code, 1);
  assertStringIncludes(err, "it is interrupted");
  assert(await store.findTag("main") === undefined);
});

/** Scenarios with every kind of expectation, as a request body. */
const richBatch = JSON.stringify({
  test_batch: Array.from({ length: 12 }, (_, index) => ({
    id: `s${index}`,
    system_prompt: "Be brief.",
    owner: "ann",
    conversation_checks: [{ type: "contains", value: "right" }],
    interactions: ["a", "b"].map((id) => ({
      id,
      user_message: `${id} ${index}?`,
      reference_reply: "right",
      checks: [{ type: "max_words", value: 3, required: true }],
    })),
  })),
});

Deno.test("a result that --output wrote is a baseline, without the database that has it", async () => {
  const before = model({ "b.json": richBatch });
  const main = await before.evaluate(
    "b.json",
    "--attempts",
    "2",
    "-o",
    "main.json",
  );
  const written = before.files["main.json"]!;

  const files = { "b.json": richBatch, "main.json": written };
  const { evaluate, state } = model(files);
  const same = await evaluate("b.json", "--baseline", "main.json");
  assertEquals(same.code, 0, same.out + same.err);
  assertStringIncludes(same.err, `baseline ${main.id}\n`);
  assertStringIncludes(same.out, "overall: no scenario differs");
  assert(!same.out.includes("not the same in both runs"), same.out);
  assert(!same.out.includes("Only in the"), same.out);

  state.answer = () => "wrong";
  const worse = await evaluate("b.json", "--baseline", "main.json", "--threshold", "0");
  assertEquals(worse.code, 100, worse.out + worse.err);
  assertStringIncludes(worse.out, "regressed in overall");
  assertStringIncludes(worse.out, "before: right", "the replies that fell are quoted");

  const unknown = await evaluate("b.json", "--baseline", "main.json", "--score", "bleu9");
  assertStringIncludes(unknown.err, "the baseline has no score bleu9");
});

Deno.test("a baseline file that is missing may be optional; one that is no result is an error", async () => {
  const files = { "b.json": batchFile(2), "cut.json": '{"run_id": "x"', "group.json": "{}" };
  const { evaluate, asked } = model(files);
  for (const name of ["cut.json", "group.json"]) {
    const { code, err } = await evaluate("b.json", "--baseline", name, "--baseline-optional");
    assertEquals(code, 1, err);
    assertStringIncludes(err, `cannot use ${name} as baseline: `);
  }
  const required = await evaluate("b.json", "--baseline", "none.json");
  assertEquals([required.code, asked.length], [1, 0]);
  assertStringIncludes(required.err, "cannot read none.json");
  const first = await evaluate("b.json", "--baseline", "none.json", "--baseline-optional");
  assertEquals(first.code, 0, first.err);
  assertStringIncludes(first.err, "nothing is compared");
});

Deno.test("a scenario that always passed before and never now fails, also if the mean does not fall", async () => {
  const { evaluate, state, files, run } = model();
  await evaluate("support.jsonl", "--attempts", "2", "-o", "main.json");
  const answers = (wrong: (question: string) => boolean) => {
    state.answer = (asked = []) => wrong(asked.at(-1)!.content) ? "wrong" : "right";
  };
  answers((question) => question === "question 3");
  const gate = ["--attempts", "2", "--baseline", "main.json", "--min-pass-rate", "0.9"];
  const worse = await evaluate("support.jsonl", ...gate, "-o", "r.xml", "-o", "r.md");
  assertEquals(worse.code, 100, worse.out + worse.err);
  assertStringIncludes(worse.out, "in none now: s3\n");
  assert(worse.out.endsWith("\ngate not met: 1 new failure\n"), worse.out);
  assertStringIncludes(files["r.xml"]!, 'name="s3">\n      <failure');
  assertStringIncludes(files["r.md"]!, "in none now: `s3`");
  const off = await evaluate("support.jsonl", ...gate, "--no-fail-on-new-failures");
  assertEquals(off.code, 0, off.out);

  let calls = 0;
  answers((question) => question === "question 3" && calls++ === 0);
  const flaky = await evaluate(
    "support.jsonl",
    ...gate,
    "--fail-on-new-failures",
    "-o",
    "flaky.json",
  );
  assertEquals(flaky.code, 0, "it passed in one of two attempts");
  answers((question) => question === "question 3");
  const known = await evaluate(
    "support.jsonl",
    ...["--baseline", "flaky.json", "--min-pass-rate", "0.9"],
  );
  assertEquals(known.code, 0, "it did not always pass before");
  const alone = await run("run", "support.jsonl", ...target, "--fail-on-new-failures");
  assertStringIncludes(alone.err, "--fail-on-new-failures requires --baseline");
});

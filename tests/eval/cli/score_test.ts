import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { cliContext } from "../../fakes/cli_context.ts";

/** `assay-eval score` reads what other tools have written. */

const lines = (values: unknown[]) => values.map((value) => JSON.stringify(value)).join("\n");
const pretty = (value: unknown) => JSON.stringify(value, null, 2);

/** Two questions under the ids of the dataset. */
const DATASET = lines(["capital", "river"].map((id) => ({
  id,
  interactions: [{ id: "1", user_message: `The ${id} of France?`, reference_reply: id }],
})));

/** Scores a file, and gives the replies by scenario and attempt. */
async function score(name: string, text: string, ...args: string[]) {
  const { run, store, asked } = cliContext({ files: { [name]: text, "support.jsonl": DATASET } });
  assertEquals((await run("datasets", "put", "support", "support.jsonl")).code, 0);
  const { code, out, err } = await run("score", name, ...args);
  const { runs: [stored] } = await store.listRuns({ limit: 1 });
  const replies: Record<string, string[]> = {};
  if (stored) {
    const { request: { test_batch } } = (await store.getRun(stored.id))!;
    for await (const { scenario, result } of store.turns(stored.id)) {
      (replies[test_batch[scenario]!.id] ??= []).push(result.agent_reply);
    }
  }
  assertEquals(asked.length, 0);
  return { code, out, err, stored, replies, store };
}

const sample = (question: string, reply: string) => ({
  messages: [{ role: "user", content: question }, { role: "assistant", content: reply }],
});

const completion = (...texts: string[]) => ({
  choices: texts.map((content, index) => ({ index, message: { role: "assistant", content } })),
});
const responses = (text: string) => ({
  output: [
    { type: "reasoning", summary: [] },
    { type: "message", role: "assistant", content: [{ type: "output_text", text }] },
  ],
});

Deno.test("the output of an OpenAI batch answers a dataset by custom_id, one attempt per choice", async () => {
  const batch = (custom_id: string, status_code: number, body: unknown) => ({
    id: `batch_req_${custom_id}`,
    custom_id,
    response: { status_code, request_id: "r", body },
    error: null,
  });
  const { code, out, stored, replies } = await score(
    "batch_output.jsonl",
    lines([
      batch("river", 200, completion("river", "none")),
      batch("capital", 200, responses("capital")),
      batch("capital", 500, {}),
    ]),
    "--dataset",
    "support",
    "--model",
    "gpt-4o",
  );
  assertEquals(replies, { capital: ["capital", "Request failed"], river: ["river", "none"] });
  assertEquals([stored!.testName, stored!.modelId, stored!.endpoint], ["support", "gpt-4o", null]);
  assertMatch(stored!.datasetName!, /support/);
  assertStringIncludes(out, "Model gpt-4o, scored from existing replies");
  assertEquals(code, 100);
});

Deno.test("a chat list answers the questions of a dataset, whatever its rows are called", async () => {
  const { replies, code } = await score(
    "chats.jsonl",
    lines([sample("The river of France?", "river"), sample("The capital of France?", "capital")]),
    "--dataset",
    "support",
  );
  assertEquals([code, replies], [0, { capital: ["capital"], river: ["river"] }]);
});

Deno.test("without a dataset the file has the references, too: samples with ideal or output", async () => {
  const { replies, stored, store } = await score(
    "samples.jsonl",
    lines([
      { id: "a", ...sample("A?", "my a"), ideal: "a" },
      { id: "b", input: "B?", ideal: "b", output: "my b" },
      {
        id: "c",
        datasource_item: { input: "C?", ideal: "c" },
        sample: { output: [{ role: "assistant", content: "my c" }] },
      },
    ]),
  );
  const { request } = (await store.getRun(stored!.id))!;
  assertEquals(
    request.test_batch.map((one) => one.interactions[0]!.reference_reply),
    ["a", "b", undefined].map((text, index) => text ?? (index === 2 ? "c" : text)),
  );
  assertEquals(Object.values(replies), [["my a"], ["my b"], ["my c"]]);
  assertEquals([stored!.modelId, stored!.testName], ["samples", "samples"]);
});

Deno.test("an eval of OpenAI's API is scored by its graders, with the samples that its items have", async () => {
  const { code, replies, out } = await score(
    "eval.json",
    pretty({
      testing_criteria: [{
        type: "string_check",
        name: "label",
        input: "{{ sample.output_text }}",
        operation: "eq",
        reference: "{{ item.label }}",
      }],
      data_source: {
        type: "jsonl",
        source: {
          type: "file_content",
          content: [
            { item: { question: "2+2?", label: "4" }, sample: { output_text: "4" } },
            { item: { question: "2+3?", label: "5" }, sample: completion("six") },
          ],
        },
      },
    }),
  );
  assertEquals([code, Object.values(replies)], [100, [["4"], ["six"]]]);
  assertMatch(out, /label +yes +1 +0 +1/);
});

Deno.test("a log of Inspect has an attempt per epoch", async () => {
  const one = (id: number, epoch: number, completion: string, error?: unknown) => ({
    id,
    epoch,
    input: [{ role: "user", content: `${id}?` }],
    target: ["yes"],
    output: { model: "m", choices: [{ message: { role: "assistant", content: completion } }] },
    error,
  });
  const { replies } = await score(
    "log.json",
    pretty({
      version: 2,
      status: "success",
      eval: { task: "t" },
      samples: [
        one(1, 1, "yes"),
        one(2, 1, "no"),
        one(1, 2, "yes"),
        one(2, 2, "", { message: "x" }),
      ],
    }),
  );
  assertEquals(replies, { 1: ["yes", "yes"], 2: ["no", "Request failed"] });
});

Deno.test("results of promptfoo have their prompts, assertions and outputs; the first provider counts", async () => {
  const result = (testIdx: number, provider: string, output: unknown) => ({
    testIdx,
    promptIdx: 0,
    provider: { id: provider },
    prompt: { raw: `Name it: ${testIdx}`, label: "p" },
    vars: { n: testIdx },
    testCase: { vars: { n: testIdx }, assert: [{ type: "contains", value: "{{n}}" }] },
    response: output === undefined ? undefined : { output },
  });
  const { replies, err, code } = await score(
    "results.json",
    pretty({
      evalId: "eval-1",
      results: {
        version: 3,
        results: [
          result(0, "openai:a", "it is 0"),
          result(0, "openai:b", "0"),
          result(1, "openai:a", undefined),
        ],
      },
    }),
  );
  assertEquals(replies, { "test-1": ["it is 0"], "test-2": ["Request failed"] });
  assertStringIncludes(err, "left out: results of the provider openai:b");
  assertEquals(code, 100);
});

Deno.test("a table has attempts by attempt_id, and so have the turns of an exported run", async () => {
  const table = "scenario_id,attempt_id,user_message,expected,agent_reply\n" +
    "a,1,A?,yes,yes\na,1,And?,no,no\na,2,A?,yes,perhaps\na,2,And?,no,never\n";
  const { replies } = await score("table.csv", table);
  assertEquals(replies, { a: ["yes", "no", "perhaps", "never"] });

  const rows = [["capital", 2, "c2"], ["river", 1, "r1"], ["capital", 1, "c1"], ["river", 2, "r2"]]
    .map(([scenario_id, attempt_id, agent_reply]) => ({
      run_id: "x",
      scenario_id,
      attempt_id,
      turn: 0,
      agent_reply,
      user_message: "?",
    }));
  const exported = await score("run.jsonl", lines(rows), "--dataset", "support");
  assertEquals(exported.replies, { capital: ["c1", "c2"], river: ["r1", "r2"] });
});

Deno.test("what cannot be scored is refused with what to do, and nothing is stored", async () => {
  const row = (scenario_id: string, agent_reply = "x") => ({ scenario_id, agent_reply });
  const cases = [
    [lines([row("capital")]), [], "name the dataset that they answer with --dataset"],
    [
      lines([row("capital")]),
      ["--dataset", "support"],
      'scenario "river", turn 0 has no agent_reply',
    ],
    [lines([row("lake")]), ["--dataset", "support"], 'no scenario of the batch has the id "lake"'],
    [lines([row("capital"), 7]), ["--dataset", "support"], "(line 2 is no reply)"],
    [DATASET, [], "no conversation in it has a reply (agent_reply)"],
    [lines([row("capital")]), ["--dataset", "other"], 'cannot find dataset "other"'],
  ] as const;
  for (const [text, args, message] of cases) {
    const { code, err, stored } = await score("replies.jsonl", text, ...args);
    assertEquals([code, stored], [1, undefined], message);
    assertStringIncludes(err, message);
  }
});

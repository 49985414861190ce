import { assertEquals, assertStringIncludes } from "@std/assert";
import { z } from "zod";
import { cliContext } from "../../fakes/cli_context.ts";
import { callRoute, evalService, evaluateBody, evaluateWith } from "../../fakes/eval_service.ts";
import { fakeJudge, scoringPorts } from "../../fakes/scoring_ports.ts";
import type { Target } from "../../../eval/ask/target.ts";
import type { TargetReply } from "../../../eval/ask/reply.ts";

/** What TRL documents as a conversational dataset: docs/source/dataset_formats.md. */
const TrlMessage = z.strictObject({
  role: z.enum(["system", "user", "assistant", "tool"]),
  content: z.string(),
  tool_calls: z.array(z.strictObject({
    type: z.literal("function"),
    function: z.strictObject({ name: z.string(), arguments: z.record(z.string(), z.unknown()) }),
  })).min(1).optional(),
});
const TrlMessages = z.array(TrlMessage).min(1);
const OfTrl = { tools: z.array(z.looseObject({ type: z.literal("function") })).optional() };
const completion = z.tuple([TrlMessage.extend({ role: z.literal("assistant") })]);
const origin = z.strictObject({
  run_id: z.string(),
  scenario_id: z.string(),
  attempt_id: z.int(),
  turn: z.int(),
  because: z.enum(["correction", "people", "score", "judge"]),
  by: z.string().nullable(),
});
const TRL = {
  sft: z.strictObject({ messages: TrlMessages, ...OfTrl, origin }),
  dpo: z.strictObject({
    prompt: TrlMessages,
    chosen: completion,
    rejected: completion,
    ...OfTrl,
    origin,
  }),
  kto: z.strictObject({ prompt: TrlMessages, completion, label: z.boolean(), ...OfTrl, origin }),
};

/** What OpenAI documents for supervised fine-tuning and for direct preference optimization. */
const OpenAIAssistant = z.strictObject({
  role: z.literal("assistant"),
  content: z.string().optional(),
  tool_calls: z.array(z.strictObject({
    id: z.string(),
    type: z.literal("function"),
    function: z.strictObject({ name: z.string(), arguments: z.string() }),
  })).optional(),
});
const OpenAIMessages = z.array(z.union([
  z.strictObject({ role: z.enum(["system", "user"]), content: z.string() }),
  OpenAIAssistant,
])).min(1);
const OPENAI = {
  "sft-openai": z.strictObject({ messages: OpenAIMessages, ...OfTrl }),
  "dpo-openai": z.strictObject({
    input: z.strictObject({ messages: OpenAIMessages, ...OfTrl }),
    preferred_output: z.tuple([OpenAIAssistant]),
    non_preferred_output: z.tuple([OpenAIAssistant]),
  }),
};

type Form = keyof typeof TRL | keyof typeof OPENAI;

function parse<F extends Form>(form: F, text: string) {
  const schema = { ...TRL, ...OPENAI }[form];
  return text.trimEnd().split("\n").map((line) =>
    schema.parse(JSON.parse(line)) as z.infer<(typeof TRL & typeof OPENAI)[F]>
  );
}

const AT = ["--endpoint", "http://model.example/v1", "--model", "m"];

const scenario = (id: string, questions = [id]) => ({
  id,
  interactions: questions.map((question, index) => ({
    id: `${index}`,
    user_message: question,
    reference_reply: "right",
  })),
});
const file = (...scenarios: unknown[]) =>
  scenarios.map((one) => `${JSON.stringify(one)}\n`).join("");
const grade = (scenario: number, fields: Record<string, unknown>) =>
  `${JSON.stringify({ scenario, attempt_id: 1, turn: 0, value: 0, ...fields })}\n`;

Deno.test("a corrected reply is chosen and what was said is rejected, in the forms of TRL and OpenAI", async () => {
  const { run, files } = cliContext({
    files: {
      "b.jsonl": file(
        scenario("a"),
        { ...scenario("b"), system_prompt: "Be kind." },
        scenario("c"),
      ),
      "g.jsonl": grade(1, { corrected_reply: "better b", author: "ann" }),
    },
    answer: (messages) => messages.at(-1)!.content === "c" ? "right" : "wrong",
  });
  await run("run", "b.jsonl", ...AT);
  await run("grades", "latest", "--import", "g.jsonl");

  const dpo = await run("export", "latest", "--format", "dpo");
  assertEquals([dpo.code, dpo.err], [0, "1 row\n"], dpo.err);
  const [pair] = parse("dpo", dpo.out);
  assertEquals(pair!.prompt, [
    { role: "system", content: "Be kind." },
    { role: "user", content: "b" },
  ]);
  assertEquals([pair!.chosen[0].content, pair!.rejected[0].content], ["better b", "wrong"]);
  assertEquals([pair!.origin.because, pair!.origin.by], ["correction", "ann"]);

  const openai = parse("dpo-openai", (await run("export", "latest", "--format", "dpo-openai")).out);
  assertEquals(
    openai,
    [{
      input: { messages: pair!.prompt },
      preferred_output: pair!.chosen,
      non_preferred_output: pair!.rejected,
    }] as typeof openai,
  );

  const sft = parse("sft", (await run("export", "latest", "--format", "sft")).out);
  assertEquals(sft.map(({ messages }) => messages.at(-1)!.content), ["better b", "right"]);
  const chat = parse("sft-openai", (await run("export", "latest", "--format", "sft-openai")).out);
  assertEquals(chat, sft.map(({ messages }) => ({ messages })) as typeof chat);

  const written = await run("export", "latest", "--format", "kto", "-o", "train.jsonl");
  assertEquals([written.out, written.err], ["", "4 rows\n"]);
  assertEquals(
    parse("kto", files["train.jsonl"]!).map((row) => [
      row.prompt.at(-1)!.content,
      row.completion[0].content,
      row.label,
    ]),
    [["a", "wrong", false], ["b", "better b", true], ["b", "wrong", false], ["c", "right", true]],
  );
});

Deno.test("of attempts and runs of the same question, the reply that passed or that people prefer is chosen", async () => {
  const replies = ["right", "wrong", "wrong", "wronger", "right", "right"];
  const { run } = cliContext({
    files: {
      "b.jsonl": file(scenario("a"), scenario("b"), scenario("c")),
      "g.jsonl": grade(1, { value: 0.2, author: "ann" }) +
        grade(1, { value: 0.4, author: "ann", attempt_id: 2 }),
    },
    answer: (_, call) => replies[call - 1]!,
  });
  await run("run", "b.jsonl", ...AT, "--attempts", "2", "--concurrency", "1");
  await run("grades", "latest", "--import", "g.jsonl");
  const rows = parse("dpo", (await run("export", "latest", "--format", "dpo")).out);
  assertEquals(
    rows.map(({ chosen, rejected, origin: { because, by } }) => [
      chosen[0].content,
      rejected[0].content,
      because,
      by,
    ]).toSorted(),
    [["right", "wrong", "score", null], ["wronger", "wrong", "people", "ann"]],
  );
});

Deno.test("a conversation is learnt with its corrected replies, and not after one that only failed", async () => {
  const { run } = cliContext({
    files: {
      "b.jsonl": file(scenario("a", ["a1", "a2"]), scenario("b", ["b1", "b2"])),
      "g.jsonl": grade(0, { corrected_reply: "better a1" }),
    },
    answer: (messages) => messages.at(-1)!.content.endsWith("2") ? "right" : "wrong",
  });
  await run("run", "b.jsonl", ...AT);
  await run("grades", "latest", "--import", "g.jsonl");
  const { out, err } = await run("export", "latest", "--format", "sft");
  assertEquals(err, "2 rows; left out: 1 turn: after a failing reply\n");
  assertEquals(parse("sft", out)[1]!.messages.map(({ content }) => content), [
    "a1",
    "better a1",
    "a2",
    "right",
  ]);
  // What is preferred is learnt from what was really said.
  const [first] = parse("dpo", (await run("export", "latest", "--format", "dpo")).out);
  assertEquals(first!.prompt.map(({ content }) => content), ["a1"]);
});

Deno.test("tool calls that a reply leaves to its caller are part of it, with the tools it was offered", async () => {
  const tools = [{ type: "function", function: { name: "look_up", parameters: {} } }];
  const call = { name: "look_up", args: { order: 7 }, status: null, ms: null };
  const ran = { ...call, status: "ok" as const };
  const replies: Record<string, TargetReply> = {
    pending: { content: "", usage: null, toolCalls: [call] } as TargetReply,
    ran: { content: "right", usage: null, toolCalls: [ran] } as TargetReply,
  };
  const target: Target = { ask: (messages) => Promise.resolve(replies[messages.at(-1)!.content]!) };
  const interaction = (id: string) => ({
    id,
    interactions: [{ id, user_message: id, reference_tools: [{ name: "look_up" }] }],
  });
  const { run } = cliContext({
    files: {
      "b.json": JSON.stringify(evaluateBody({
        test_batch: [interaction("pending"), interaction("ran")],
        parameters: { tools },
      })),
    },
    target,
  });
  const done = await run("run", "b.json");
  assertEquals(done.code, 0, done.out + done.err);
  const { out, err } = await run("export", "latest", "--format", "sft");
  assertEquals(err, "1 row; left out: 1 turn: tool results not stored\n");
  const [row] = parse("sft", out);
  const made = { name: "look_up", arguments: { order: 7 } };
  assertEquals(row!.messages.at(-1)!.tool_calls, [{ type: "function", function: made }]);
  assertEquals(row!.tools, tools as never);
  const [chat] = parse("sft-openai", (await run("export", "latest", "--format", "sft-openai")).out);
  assertEquals(chat!.messages.at(-1), {
    role: "assistant",
    tool_calls: [{
      id: "call_1",
      type: "function",
      function: { ...made, arguments: '{"order":7}' },
    }],
  });
});

Deno.test("what another dataset tests is left out and counted, and nothing that is held out is exported", async () => {
  const { run } = cliContext({
    files: {
      "own.jsonl": file(scenario("a"), scenario("b", ["B  again", "b2"]), scenario("c")),
      "other.jsonl": file(scenario("x", ["b again"])),
      "secret.jsonl": file(scenario("c")),
      "later.jsonl": file(scenario("d")),
    },
    answer: () => "right",
  });
  for (const name of ["own", "other", "secret"]) {
    await run("datasets", "put", name, `${name}.jsonl`);
  }
  await run("run", "--dataset", "own", ...AT);
  const before = await run("export", "latest", "--format", "sft");
  assertEquals(before.err, "2 rows; left out: 2 turns: tests of another dataset\n");

  assertEquals((await run("datasets", "tag", "secret", "held-out")).out, "secret has held-out\n");
  await run("datasets", "put", "secret", "later.jsonl"); // its earlier version stays held out
  const after = await run("export", "latest", "--format", "sft");
  assertEquals(
    after.err,
    "2 rows; left out: 1 turn: tests of another dataset, 1 turn: held out\n",
  );
  assertStringIncludes((await run("datasets")).out, "held-out");

  await run("run", "--dataset", "secret", ...AT);
  const refused = await run("export", "latest", "--format", "sft");
  assertEquals([refused.code, refused.out], [1, ""]);
  assertStringIncludes(refused.err, 'its dataset "secret" is tagged held-out');
  assertEquals((await run("datasets", "tag", "secret")).out, "secret has no tags\n");
  assertEquals((await run("export", "latest", "--format", "sft")).code, 0);
});

Deno.test("the judge's preferences between runs are pairs, and say whose they are", async () => {
  const { judge } = fakeJudge(({ messages: [, question] }) => {
    const text = question!.content;
    const isFirst = text.indexOf("good reply") < text.indexOf("poor reply");
    return `{"reason": "", "better": "${isFirst ? "first" : "second"}"}`;
  });
  let said = "good reply";
  const { run } = cliContext({
    files: { "b.jsonl": file(scenario("a")) },
    answer: () => said,
    scoring: scoringPorts({ judge }),
  });
  await run("run", "b.jsonl", ...AT);
  await run("tag", "latest", "first");
  said = "poor reply";
  await run("run", "b.jsonl", ...AT);
  const { out, err } = await run("export", "tag:first", "latest", "--format", "dpo", "--judge");
  assertEquals(err, "1 row\n");
  const [row] = parse("dpo", out);
  assertEquals([row!.chosen[0].content, row!.rejected[0].content], ["good reply", "poor reply"]);
  assertEquals([row!.origin.because, row!.origin.by], ["judge", "fake-judge"]);
});

Deno.test("an export for training that cannot be made says what to do", async () => {
  const { run } = cliContext({ files: { "b.jsonl": file(scenario("a")) }, answer: () => "wrong" });
  await run("run", "b.jsonl", ...AT);
  const cases: [args: string[], message: string][] = [
    [["latest", "--format", "dpo"], "write what failing replies should have said, or export"],
    [["latest", "--format", "sft"], "no reply passed or has a correction"],
    [["latest", "--format", "sft", "--judge"], "--judge is for dpo and dpo-openai"],
    [["latest", "--format", "csv", "--judge"], "--judge is for dpo and dpo-openai"],
    [["latest", "--format", "dpo", "--judge"], "none is configured (JUDGE_BASE_URL, JUDGE_MODEL)"],
    [["latest", "--format", "dpo", "--rows", "scores"], "--rows cannot be used with training data"],
    [["latest", "none", "--format", "dpo"], "cannot find run none"],
  ];
  for (const [args, message] of cases) {
    const { code, out, err } = await run("export", ...args);
    assertEquals([code, out], [1, ""], args.join(" "));
    assertStringIncludes(err, message);
  }
});

Deno.test("runs and groups are exported for training over HTTP, too", async () => {
  const { service } = evalService(() => "right");
  const { run_id } = await evaluateWith(service, evaluateBody({ test_batch: scenario("a") }));
  const post = (body: unknown) =>
    service(
      new Request("http://127.0.0.1:8080/runs/export", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      }),
    );
  const response = await post({ run_ids: [run_id], format: "sft" });
  assertEquals(response.status, 200);
  assertEquals(response.headers.get("content-type"), "application/jsonl");
  assertEquals(response.headers.get("x-training-rows"), "1");
  assertStringIncludes(
    response.headers.get("content-disposition")!,
    `assay-${run_id}.sft.jsonl`,
  );
  parse("sft", await response.text());
  const cases: [body: Record<string, unknown>, status: number][] = [
    [{ run_ids: [run_id], format: "dpo" }, 409],
    [{ run_ids: [run_id], format: "sft", judge: true }, 400],
    [{ run_ids: [run_id], format: "dpo", judge: true }, 400],
    [{ run_ids: [run_id], format: "csv" }, 400],
    [{ run_ids: [], format: "sft" }, 400],
    [{ run_ids: ["none"], format: "sft" }, 404],
  ];
  for (const [body, status] of cases) assertEquals((await post(body)).status, status);
});

Deno.test("the tags of a dataset are set and listed over HTTP", async () => {
  const { service } = evalService();
  const send = (method: string, path: string, body: unknown) =>
    service(
      new Request(`http://127.0.0.1:8080${path}`, {
        method,
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      }),
    );
  await send("PUT", "/datasets/support", [scenario("a")]);
  const tagged = await send("PATCH", "/datasets/support", { tags: ["held-out", "held-out"] });
  assertEquals([tagged.status, await tagged.json()], [200, { tags: ["held-out"] }]);
  await send("PUT", "/datasets/support", [scenario("b")]); // a new version keeps them
  const { datasets } = await (await callRoute(service, "GET /datasets")).json();
  assertEquals(datasets[0].tags, ["held-out"]);
  const { tags } = await (await callRoute(service, "GET /datasets/support/versions")).json();
  assertEquals(tags, ["held-out"]);
  assertEquals((await send("PATCH", "/datasets/none", { tags: [] })).status, 404);
  assertEquals((await send("PATCH", "/datasets/support", { tags: ["a b"] })).status, 400);
});

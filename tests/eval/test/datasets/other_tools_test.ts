import { assertEquals, assertStringIncludes } from "@std/assert";
import { read, refuse, turns } from "./imported.ts";

/** Datasets as the tools write them, one value per line and in one array. */

const inLines = (values: unknown[]) => values.map((value) => JSON.stringify(value)).join("\n");
const inArray = (values: unknown[]) => JSON.stringify(values, null, 2);

Deno.test("what was expected is the reference of LangSmith, also beside what a model said", async () => {
  const outputs = { output: "5", expected: "4" };
  const found = await read(inLines([{ inputs: { question: "2+2?" }, outputs }]));
  assertEquals(turns(found), [[["2+2?", "4"]]]);
  assertEquals(found.leftOut.map(({ what }) => what), ["output of outputs"]);
});

Deno.test("a LangSmith dataset is read from JSONL and from a JSON array", async () => {
  const examples = [
    { inputs: { question: "What is 2+2?" }, outputs: { answer: "4" }, metadata: { split: "a" } },
    {
      id: "5f0a",
      created_at: "2024-01-01T00:00:00Z",
      inputs: { messages: [{ role: "user", content: "Hi" }] },
      outputs: { messages: [{ role: "assistant", content: "Hello" }] },
    },
    {
      inputs: { input: [{ type: "human", data: { content: "Bye" } }], tone: "kind" },
      outputs: { output: { type: "ai", data: { content: "See you" } } },
      runs: [],
    },
  ];
  for (const text of [inLines(examples), inArray(examples)]) {
    const found = await read(text);
    assertEquals(found.format, "langsmith");
    assertEquals(turns(found), [[["What is 2+2?", "4"]], [["Hi", "Hello"]], [["Bye", "See you"]]]);
    assertEquals(found.scenarios[1]!.id, "5f0a");
    assertEquals(new Set(found.scenarios.map(({ id }) => id)).size, 3);
    assertEquals(found.leftOut.map(({ what }) => what), ["tone of inputs", "the field runs"]);
  }
});

Deno.test("inputs and outputs of LangSmith may be texts, and outputs may be missing", async () => {
  const found = await read(inLines([
    { inputs: "2+2?", outputs: "4" },
    { inputs: "3+3?", reference_outputs: "6" },
    { inputs: "4+4?", outputs: null },
  ]));
  assertEquals([found.format, turns(found)], [
    "langsmith",
    [[["2+2?", "4"]], [["3+3?", "6"]], [["4+4?", undefined]]],
  ]);
});

Deno.test("of LangSmith's inputs without a known name a text is the question, be it behind a number", async () => {
  const found = await read(inLines([{ id: " 5f0a\n", inputs: { year: 1912, topic: "Titanic" } }]));
  assertEquals([found.scenarios[0]!.id, turns(found)], ["5f0a", [[["Titanic", undefined]]]]);
  assertEquals(found.leftOut.map(({ what }) => what), ["year of inputs"]);
});

Deno.test("empty cells of LangSmith, and a text in the column inputs, leave nothing out", async () => {
  for (
    const text of ["inputs.question,inputs.tone,outputs\n2+2?,,4\n", "inputs,outputs\n2+2?,4\n"]
  ) {
    const found = await read(text);
    assertEquals([found.format, turns(found)], ["langsmith", [[["2+2?", "4"]]]]);
    assertEquals(found.leftOut, []);
  }
});

Deno.test("samples of OpenAI are read from a JSON array, too", async () => {
  const found = await read(inArray([
    { messages: [{ role: "user", content: "2+2?" }, { role: "assistant", content: "4" }] },
    { input: [{ role: "user", content: "3+3?" }], ideal: ["6", "six"] },
  ]));
  assertEquals(found.format, "openai-evals");
  assertEquals(turns(found), [[["2+2?", "4"]], [["3+3?", "6"]]]);
  assertEquals(found.scenarios.map(({ id }) => id), ["sample-1", "sample-2"]);
});

Deno.test("data of OpenAI's evals API is read out of its items", async () => {
  const found = await read(inLines([
    { item: { input: "2+2?", ideal: "4" } },
    { item: { question: "3+3?", ground_truth: "6", level: 1 }, sample: { output_text: "6" } },
  ]));
  assertEquals(found.format, "openai-evals");
  assertEquals(turns(found), [[["2+2?", "4"]], [["3+3?", "6"]]]);
  assertEquals(found.leftOut.map(({ what }) => what), ["the field sample", "the field level"]);
  const { message } = await refuse(inLines([{ item: { ticket: "It is broken", label: "a" } }]));
  assertStringIncludes(message, "line 1: it has no user message; that may be in input, messages");
});

/** The bodies of `POST /evals` and of `POST /evals/ID/runs`, in one object. */
const OPENAI_EVAL = {
  name: "tickets",
  data_source_config: { type: "custom", item_schema: { type: "object" } },
  testing_criteria: [
    {
      type: "string_check",
      name: "label",
      input: "{{ sample.output_text }}",
      operation: "eq",
      reference: "{{ item.label }}",
    },
    {
      type: "string_check",
      name: "no excuse",
      input: "{{sample.output_text}}",
      operation: "ilike",
      reference: "ware",
    },
    {
      type: "text_similarity",
      name: "near",
      input: "{{ sample.output_text }}",
      reference: "{{ item.label }}",
      evaluation_metric: "fuzzy_match",
      pass_threshold: 0.8,
    },
    {
      type: "label_model",
      name: "tone",
      model: "o3",
      labels: ["kind", "rude"],
      passing_labels: ["kind"],
      input: [
        { role: "developer", content: "Classify the tone." },
        { role: "user", content: { type: "input_text", text: "{{ sample.output_text }}" } },
      ],
    },
    {
      type: "score_model",
      name: "short",
      model: "o3",
      range: [1, 5],
      pass_threshold: 4,
      input: [{ role: "user", content: "How short is it? Ticket: {{ item.ticket }}" }],
    },
    { type: "python", name: "own", source: "def grade(sample, item): return 1" },
    {
      type: "string_check",
      name: "other",
      input: "{{ item.label }}",
      operation: "eq",
      reference: "",
    },
  ],
  data_source: {
    type: "responses",
    model: "gpt-4.1",
    input_messages: {
      type: "template",
      template: [
        { type: "message", role: "developer", content: { type: "input_text", text: "Be brief." } },
        { type: "message", role: "user", content: "{{ item.ticket }}" },
      ],
    },
    sampling_params: { seed: 1 },
    source: {
      type: "file_content",
      content: [
        { item: { ticket: "My screen is black.", label: "Hardware" } },
        { item: { ticket: 'It says "no".', label: "Software" } },
      ],
    },
  },
};

Deno.test("graders of OpenAI's evals API become checks of their items", async () => {
  for (const text of [inLines([OPENAI_EVAL]), JSON.stringify(OPENAI_EVAL, null, 2)]) {
    const found = await read(text);
    assertEquals([found.format, turns(found)], ["openai-graders", [
      [["My screen is black.", "Hardware"]],
      [['It says "no".', "Software"]],
    ]]);
    const [first] = found.scenarios;
    assertEquals(first!.system_prompt, "Be brief.");
    const checks = first!.interactions[0]!.checks!;
    assertEquals(checks.map(({ name, type }) => [name, type]), [
      ["label", "equals"],
      ["no excuse", "contains"],
      ["near", "similar"],
      ["tone", "judge"],
      ["short", "judge"],
    ]);
    const values = checks.map((check) => "value" in check && check.value);
    assertEquals(values, [
      "Hardware",
      "ware",
      "Hardware",
      "By these instructions, its label is kind, of kind, rude:\n\nClassify the tone.\n\n(the reply)",
      "By these instructions, its score is at least 4, of 1 to 5:\n\n" +
      "How short is it? Ticket: My screen is black.",
    ]);
    assertEquals(checks.every(({ required }) => required), true);
    assertEquals(found.leftOut.map(({ what }) => what), [
      "the field sampling_params",
      "fuzzy_match of text_similarity: the check looks at the meaning",
      "graders of the type python",
      "graders of the type string_check",
    ]);
  }
});

Deno.test("an eval of OpenAI without its items, or without messages, is refused with the reason", async () => {
  const { data_source, ...evaluation } = OPENAI_EVAL;
  const elsewhere = { ...data_source, source: { type: "file_id", id: "file-1" } };
  const { message } = await refuse(JSON.stringify({ ...evaluation, data_source: elsewhere }));
  assertStringIncludes(message, "data_source.source.content has no items");
  const unasked = { ...data_source, input_messages: undefined };
  const { message: other } = await refuse(JSON.stringify({ ...evaluation, data_source: unasked }));
  assertStringIncludes(other, "data_source.input_messages has neither template nor item_reference");
});

Deno.test("the answer of a sample is its reference by the name that its tool has for it", async () => {
  const samples = [
    { input: "2+2?", target: "4" }, // Inspect
    { input: "2+2?", target: ["4", "four"], metadata: { level: 1 } },
    { input: "2+2?", output: "5", expected: 4 }, // Braintrust
    { input: "2+2?", expected_output: "4" }, // DeepEval
    { input: "2+2?", expectedOutput: "4" }, // Langfuse
    { question: "2+2?", answer: "4" },
    { user_input: "2+2?", reference: "4", response: "5" }, // Ragas
    { question: "2+2?", answer: "5", ground_truth: "4" }, // Ragas before 0.2
    { query: "2+2?", response: "5", ground_truth: "4" }, // Azure
    { input: "2+2?", output: "4" },
    { prompt: "2+2?", completion: "4" }, // TRL
    {
      prompt: [{ role: "user", content: "2+2?" }],
      completion: [{ role: "assistant", content: "4" }],
    },
    { conversations: [{ from: "human", value: "2+2?" }, { from: "gpt", value: "4" }] }, // ShareGPT
    { instruction: "2+2?", input: "", output: "4" }, // Alpaca
    {
      input: { messages: [{ role: "user", content: "2+2?" }] }, // preferences
      preferred_output: [{ role: "assistant", content: "4" }],
    },
  ];
  for (const sample of samples) {
    for (const text of [inLines([sample]), inArray([sample])]) {
      const found = await read(text);
      assertEquals(found.format, "openai-evals", text);
      assertEquals(turns(found), [[["2+2?", "4"]]], text);
    }
  }
  const alpaca = await read(inLines([{ instruction: "Translate", input: "Yes", output: "Ja" }]));
  assertEquals(turns(alpaca), [[["Translate\n\nYes", "Ja"]]]);
});

Deno.test("what a model said is not the reference of a conversation that has one", async () => {
  const user = { role: "user", content: "2+2?" };
  const answered = [user, { role: "assistant", content: "4" }];
  const found = await read(inLines([{ messages: answered, response: "5" }]));
  assertEquals(turns(found), [[["2+2?", "4"]]]);
  assertEquals(found.leftOut.map(({ what }) => what), ["the field response"]);
  const open = await read(inLines([{ messages: [...answered, user], response: "4!" }]));
  assertEquals(turns(open), [[["2+2?", "4!"]]]);
  assertEquals(open.scenarios[0]!.prior_messages, answered);
});

Deno.test("beside user_message, an expected answer of another tool is the reference", async () => {
  for (const [names, cells] of [["answer", "4"], ["output,expected", "5,4"]]) {
    const found = await read(`user_message,${names}\n2+2?,${cells}\n`);
    assertEquals(turns(found), [[["2+2?", "4"]]], names);
  }
  assertEquals(turns(await read("user_message,output\n2+2?,5\n")), [[["2+2?", undefined]]]);
  const label = { columns: { metadata: { target: "target" } } };
  const labelled = await read("user_message,target\n2+2?,pupils\n", label);
  assertEquals(turns(labelled), [[["2+2?", undefined]]]);
});

Deno.test("a system message at the beginning is the system prompt of the scenario", async () => {
  const system = { role: "system", content: "Be brief." };
  const user = { role: "user", content: "2+2?" };
  const files = [
    inLines([{ messages: [system, user] }]),
    inLines([{ input: [{ ...system, role: "developer" }, user], ideal: "4" }]),
    inLines([{ conversations: [{ from: "system", value: "Be brief." }, user] }]),
    inLines([{ system: "Be brief.", conversations: [user] }]),
    inLines([{ system_prompt: "Be brief.", question: "2+2?", response: "4" }]),
    inLines([{ inputs: { messages: [system, user] } }]),
    inLines([{ system: "", messages: [system, user] }]),
    inLines([{ system: "Be brief.", messages: [system, user] }]),
    inLines([{ inputs: { system_prompt: "Be brief.", question: "2+2?" }, outputs: {} }]),
    inLines([{ system_prompt: "Be brief.", inputs: { question: "2+2?" }, outputs: {} }]),
    "system_prompt,input,output\nBe brief.,2+2?,4\n",
    "System prompt,user_message\nBe brief.,2+2?\n",
    "system,question,answer\nBe brief.,2+2?,4\n",
    "system_prompt,question,response\nBe brief.,2+2?,4\n",
    JSON.stringify({ prompts: [JSON.stringify([system, user])], tests: [{ vars: {} }] }),
  ];
  for (const file of files) {
    const { scenarios, leftOut } = await read(file);
    assertEquals(scenarios.map(({ system_prompt }) => system_prompt), ["Be brief."], file);
    assertEquals(scenarios[0]!.interactions[0]!.user_message, "2+2?");
    assertEquals(leftOut, [], file);
  }
  const filled = await read(
    "system,system_prompt,inputs.question,outputs.answer\n,Be brief.,2+2?,4\n",
  );
  assertEquals(filled.scenarios[0]!.system_prompt, "Be brief.");
  const both = await read(inLines([{ system: "Be kind.", messages: [system, user] }]));
  assertEquals(both.scenarios[0]!.system_prompt, "Be kind.\n\nBe brief.");
  const only = await read(inLines([{ inputs: { system: "Down?" }, outputs: { output: "No." } }]));
  assertEquals(turns(only), [[["Down?", "No."]]]);
  const label = { columns: { metadata: { system: "system" } } };
  const labelled = await read("system,question,answer\nshop,2+2?,4\n", label);
  assertEquals(labelled.scenarios[0]!.system_prompt, undefined);
  const late = await read(inLines([{ messages: [user, system, user] }]));
  assertEquals(late.scenarios[0]!.system_prompt, undefined);
  assertEquals(late.leftOut[0]!.what, "system messages within a conversation");
});

Deno.test("the first system prompt among the rows of a conversation is its own", async () => {
  const rows = ["a,,Hi", "a,Be brief.,2+2?", "a,Be brief.,3+3?", "a,Be kind.,4+4?", "b,,Who?"];
  const found = await read(`scenario_id,system_prompt,user_message\n${rows.join("\n")}\n`);
  assertEquals(found.scenarios.map((one) => one.system_prompt), ["Be brief.", undefined]);
  assertEquals(
    found.leftOut.map(({ what, line }) => [what, line]),
    [["further system prompts of a conversation", 5]],
  );
});

Deno.test("samples keep their ids, unless two have the same", async () => {
  const samples = [{ id: "q1" }, { id: 2 }, { id: "q1" }, { id: " " }, {}]
    .map((sample) => ({ ...sample, input: "2+2?", target: "4" }));
  const ids = ["q1", "2", "line-3", "line-4", "line-5"];
  const found = await read(inLines(samples));
  assertEquals([found.scenarios.map(({ id }) => id), found.leftOut], [ids, []]);
  const table = await read("id,question,answer\nq1,a,b\n2,c,d\nq1,e,f\n");
  assertEquals(table.scenarios.map(({ id }) => id), ["q1", "2", "line-4"]);
  assertEquals(table.leftOut, []);
});

Deno.test("the input and the answer of a sample may be fields", async () => {
  const found = await read(inLines([
    { input: { question: "2+2?", tone: "kind" }, expected: { answer: "4", score: 1 } },
    { input: { text: "3+3?" }, expected: { role: "assistant", content: "6" } },
  ]));
  assertEquals(turns(found), [[["2+2?", "4"]], [["3+3?", "6"]]]);
  assertEquals(found.leftOut.map(({ what }) => what), ["tone of input", "score of expected"]);
});

Deno.test("fields beside the question and the answer of a sample are reported", async () => {
  const found = await read(inLines([
    { input: "2+2?", messages: [], target: null, expected: "4", choices: ["3", "4"] },
  ]));
  assertEquals(turns(found), [[["2+2?", "4"]]]);
  assertEquals(
    found.leftOut.map(({ what }) => what),
    ["the field messages", "the field target", "the field choices"],
  );
});

Deno.test("an array of scenarios of ours stays one, whatever else they hold", async () => {
  const scenario = {
    id: "a",
    inputs: {},
    input: "x",
    interactions: [{ id: "1", user_message: "Hi" }],
  };
  assertEquals((await read(inArray([scenario]))).format, "json");
  assertEquals((await read(inLines([scenario]))).format, "jsonl");
});

Deno.test("an array that is not JSON to its end is refused at its line", async () => {
  const error = await refuse('[\n{"input": "a", "ideal": "b"},\n{"input": "a" "ideal": "b"}\n]');
  assertEquals(error.line, 3);
  assertStringIncludes(error.message, "line 3");
});

Deno.test("the metadata of a LangSmith example is kept with its turn", async () => {
  const example = { inputs: { question: "2+2?" }, outputs: { answer: "4" } };
  const inJson = await read(JSON.stringify({ ...example, metadata: { level: 1 } }));
  const inTable = await read('inputs.question,outputs.answer,metadata\n2+2?,4,"{""level"":1}"\n', {
    name: "export.csv",
  });
  for (const { scenarios, leftOut } of [inJson, inTable]) {
    assertEquals(scenarios[0]!.interactions[0]!.metadata, { level: 1 });
    assertEquals(leftOut, []);
  }
});

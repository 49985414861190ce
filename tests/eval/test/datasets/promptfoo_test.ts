import { assertEquals } from "@std/assert";
import type { Interaction } from "../../../../eval/test/scenario.ts";
import { read, refuse, turns } from "./imported.ts";

const PROMPTFOO = `
description: capitals
prompts:
  - "Answer briefly: {{ question }}"
providers: [openai:gpt-4o]
defaultTest:
  assert:
    - type: latency
      threshold: 5000
tests:
  - description: a capital
    vars:
      question: What is the capital of {{country}}?
      country: [France, Spain]
    assert:
      - type: icontains
        value: the capital
        weight: 2
        metric: polite
      - type: not-contains
        value: "{{country}} is not"
      - type: javascript
        value: output.length < 10
  - vars: { question: Who? }
    threshold: 0.5
    assert:
      - { type: similar, value: It was me., threshold: 0.8 }
`;

Deno.test("tests of promptfoo keep their assertions as checks", async () => {
  const found = await read(PROMPTFOO, { name: "promptfooconfig.yaml" });
  assertEquals(found.format, "promptfoo");
  assertEquals(found.scenarios.map(({ id, description }) => [id, description]), [
    ["test-1", "a capital"],
    ["test-1.2", "a capital"],
    ["test-2", ""],
  ]);
  assertEquals(found.scenarios[2]!.interactions[0]!.reference_reply, "It was me.");
  assertEquals(found.scenarios[0]!.interactions[0]!.checks as unknown, [
    {
      type: "contains",
      value: "the capital",
      ignore_case: true,
      weight: 2,
      name: "polite",
      required: true,
    },
    { type: "contains", value: "France is not", negate: true, required: true },
    { type: "max_latency_ms", value: 5000, required: true },
  ]);
  assertEquals(found.scenarios[2]!.interactions[0]!.checks as unknown, [
    { type: "similar", value: "It was me.", min: 0.8 },
    { type: "max_latency_ms", value: 5000 },
  ]);
  assertEquals(found.leftOut.map(({ what, line }) => [what, line]), [
    ["assertions of the type javascript", 11],
    ["providers of the configuration", 1],
    ["threshold of a test: its checks count, but none is required", 24],
  ]);
});

Deno.test("variables are put into the prompt of promptfoo, also in variables", async () => {
  const { scenarios } = await read(PROMPTFOO, { name: "c.yml" });
  assertEquals(
    scenarios.map(({ interactions }) => interactions[0]!.user_message),
    [
      "Answer briefly: What is the capital of France?",
      "Answer briefly: What is the capital of Spain?",
      "Answer briefly: Who?",
    ],
  );
});

Deno.test("a wrong promptfoo file is refused with its line", async () => {
  assertEquals((await refuse("tests:\n  - vars: {a: [}\n", { name: "t.yaml" })).line, 2);
  assertEquals((await refuse("tests:\n  - vars: {}\n", { name: "t.yaml" })).line, 2);
  assertEquals((await refuse("prompts: [a]\n", { name: "t.yaml" })).line, 1);
  await refuse("tests:\n  - vars: {a: *unknown}\n", { name: "t.yaml" });
  await refuse("tests:\n  - vars: &endless {a: b, c: *endless}\n", { name: "t.yaml" });
});

/** One test of promptfoo with these assertions, and what became of them. */
async function readAssertions(assert: unknown[], more: Record<string, unknown> = {}) {
  const tests = [{ vars: { question: "Who?", name: "Ann" }, assert, ...more }];
  const { scenarios, leftOut } = await read(JSON.stringify({ prompts: ["{{question}}"], tests }));
  const { reference_reply, checks } = scenarios[0]!.interactions[0]!;
  return {
    reference_reply,
    checks: checks as unknown,
    leftOut: leftOut.map(({ what }) => what),
  };
}

const lost: [name: string, assertion: Record<string, unknown>, report: string][] = [
  [
    "in another file",
    { type: "equals", value: "file://expected.txt" },
    "assertions of the type equals in other files",
  ],
  [
    "with a value in another file",
    { type: "contains-all", value: ["a", "file://b.txt"] },
    "assertions of the type contains-all in other files",
  ],
  [
    "of several similar texts",
    { type: "similar", value: ["alpha", "beta"], threshold: 0.9 },
    "assertions of the type similar",
  ],
  [
    "of what must not be said",
    { type: "not-factuality", value: "It was Bob." },
    "assertions of the type not-factuality",
  ],
  [
    "of objects instead of texts",
    { type: "contains-any", value: [{ text: "Ann" }] },
    "assertions of the type contains-any",
  ],
];
for (const [name, assertion, report] of lost) {
  Deno.test(`an assertion of promptfoo ${name} is left out, and reported`, async () => {
    assertEquals(await readAssertions([assertion]), {
      reference_reply: undefined,
      checks: undefined,
      leftOut: [report],
    });
  });
}

Deno.test("only the first of several factual references of promptfoo is used, and that is reported", async () => {
  const found = await readAssertions([
    { type: "factuality", value: "It was {{name}}." },
    { type: "factuality", value: "It was not Bob." },
  ]);
  assertEquals(found, {
    reference_reply: "It was Ann.",
    checks: undefined,
    leftOut: ["assertions of the type factuality"],
  });
});

Deno.test("what a check cannot express of an assertion or a test of promptfoo is reported", async () => {
  const assert = [{ type: "llm-rubric", value: "polite", threshold: 0.8, provider: "p" }];
  const found = await readAssertions(assert, { threshold: 0.9 });
  assertEquals(found.checks, [{ type: "judge", value: "polite" }]);
  assertEquals(found.leftOut, [
    "threshold of a test: its checks count, but none is required",
    "provider of assertions of the type llm-rubric",
    "threshold of assertions of the type llm-rubric",
  ]);
});

Deno.test("variables are put into lists and objects of promptfoo's assertions", async () => {
  const { checks, leftOut } = await readAssertions([
    { type: "contains-all", value: ["{{name}}", "Hello"] },
    { type: "is-json", value: { properties: { name: { const: "{{name}}" } } } },
  ]);
  assertEquals(checks, [
    { type: "contains", value: ["Ann", "Hello"], match: "all", required: true },
    { type: "json", value: { properties: { name: { const: "Ann" } } }, required: true },
  ]);
  assertEquals(leftOut, []);
});

Deno.test("a prompt of promptfoo that ends like a file name is a prompt if it is a sentence", async () => {
  const tests = [{ vars: { question: "What is it?", topic: "streams" } }];
  for (
    const [prompts, asked, report] of [
      [["Explain {{topic}} in Node.js"], "Explain streams in Node.js", []],
      [["Explain Node.js"], "Explain Node.js", []],
      [["prompts/{{topic}}.txt"], "prompts/streams.txt", []],
      [["prompt.txt"], "What is it?", ["prompts in other files", "the variable topic"]],
      [["prompt.py:create"], "What is it?", ["prompts in other files", "the variable topic"]],
      [["file://a b.txt", "Explain it"], "Explain it", ["prompts in other files"]],
    ] satisfies [string[], string, string[]][]
  ) {
    const { scenarios, leftOut } = await read(JSON.stringify({ prompts, tests }));
    assertEquals(scenarios[0]!.interactions[0]!.user_message, asked);
    assertEquals(leftOut.map(({ what }) => what), report);
  }
});

Deno.test("parts of promptfoo's tests that are in other files are left out, and reported", async () => {
  const tests = [
    { vars: { question: "Who?", context: "file://context.txt", size: 4 } },
    { vars: "file://vars.yaml", assert: "file://assert.yaml" },
    { vars: { question: [] } },
  ];
  const defaultTest = { vars: { question: "What?" }, options: { transform: "output" } };
  const found = await read(JSON.stringify({ tests, defaultTest }));
  assertEquals(turns(found), [[["Who?", undefined]], [["What?", undefined]]]);
  assertEquals(found.leftOut.map(({ what }) => what), [
    "options of defaultTest",
    "the variable context in another file",
    "the variable size",
    "assert that is no list",
    "vars in other files",
    "tests with an empty list in vars",
  ]);
  const { leftOut } = await read(
    JSON.stringify({
      defaultTest: "file://default.yaml",
      tests: tests.slice(0, 1),
    }),
    { name: "t.yaml" },
  );
  assertEquals(leftOut[0]!.what, "defaultTest in another file");
});

/** The checks that assertions of one test become, without `required`, and what is left out. */
async function translate(...assert: unknown[]) {
  const tests = [{ assert }];
  const { scenarios, leftOut } = await read(JSON.stringify({ prompts: ["Hi"], tests }));
  const checks = scenarios[0]!.interactions[0]!.checks ?? [];
  return {
    checks: checks.map(({ required: _, ...check }) => check) as unknown[],
    leftOut: leftOut.map(({ what }) => what),
  };
}

const SPLIT: [text: string, values: string[]][] = [
  ["a, b,c", ["a", "b", "c"]],
  ['"a, b",c', ["a, b", "c"]],
  ['"say ""hi""", "back\\\\slash" ,', ['say "hi"', "back\\slash"]],
  ['5" disk, 3"', ['5" disk', '3"']],
];

for (const [value, values] of SPLIT) {
  Deno.test(`promptfoo's texts ${value} are ${JSON.stringify(values)}`, async () => {
    assertEquals(await translate({ type: "contains-any", value }), {
      checks: [{ type: "contains", value: values, match: "any" }],
      leftOut: [],
    });
  });
}

Deno.test("a pattern of promptfoo that looks ahead is left out, and the others stay", async () => {
  const { checks, leftOut } = await translate(
    { type: "regex", value: "^(?!.*sorry).*hello" },
    { type: "not-regex", value: "(a)\\1" },
    { type: "regex", value: "h.llo" },
  );
  assertEquals(checks, [{ type: "regex", value: "h.llo" }]);
  assertEquals(leftOut, [
    "assertions of the type regex that RE2 cannot use, such as lookaround",
    "assertions of the type not-regex that RE2 cannot use, such as lookaround",
  ]);
});

Deno.test("a schema of promptfoo may be the JSON or the YAML of one", async () => {
  const schema = { type: "object", required: ["a"] };
  const { checks, leftOut } = await translate(
    { type: "is-json", value: JSON.stringify(schema) },
    { type: "contains-json", value: "type: object\nrequired: [a]\n" },
    { type: "is-json", value: "" },
    { type: "is-json", value: "no schema" },
  );
  assertEquals(checks, [
    { type: "json", value: schema },
    { type: "json", value: schema, anywhere: true },
    { type: "json" },
  ]);
  assertEquals(leftOut, ["assertions of the type is-json"]);
});

Deno.test("an assertion about what a program makes of the reply is no check of the reply", async () => {
  const equals = { type: "equals", value: "4", transform: "output.trim()" };
  assertEquals(await translate(equals, { type: "contains", value: "4" }), {
    checks: [{ type: "contains", value: "4" }],
    leftOut: ["assertions of the type equals with a transform"],
  });
  const assert = [{ type: "equals", value: "4" }, { type: "latency", threshold: 900 }];
  const options = { transform: "output.trim()" };
  const found = await Promise.all([
    read(JSON.stringify({ prompts: ["Hi"], tests: [{ assert, options }] })),
    read(JSON.stringify({ prompts: ["Hi"], tests: [{ assert }], defaultTest: { options } })),
  ]);
  for (const { scenarios: [scenario], leftOut } of found) {
    const [{ checks, reference_reply }] = scenario!.interactions as [Interaction];
    assertEquals(checks, [{ type: "max_latency_ms", value: 900, required: true }]);
    assertEquals(reference_reply, "4");
    assertEquals(leftOut.at(-1)!.what, "assertions of the type equals with a transform");
  }
});

Deno.test("an assertion whose type is called as something of JavaScript is left out", async () => {
  const types = ["constructor", "toString", "valueOf", "not-constructor", "__proto__"];
  const { checks, leftOut } = await translate(
    ...types.map((type) => ({ type, value: "x" })),
    { type: "contains", value: "x" },
  );
  assertEquals(checks, [{ type: "contains", value: "x" }]);
  assertEquals(leftOut, types.map((type) => `assertions of the type ${type}`));
});

Deno.test("an assertion without weight is left out, and one without a schema asks for any JSON", async () => {
  const { checks, leftOut } = await translate(
    { type: "contains", value: "a", weight: 0 },
    { type: "is-json", value: null },
  );
  assertEquals([checks, leftOut], [[{ type: "json" }], ["assertions of the type contains"]]);
});

Deno.test("the metric of an assertion is its check's name, as long as one may be", async () => {
  const { checks } = await translate({ type: "contains", value: "a", metric: "m".repeat(300) });
  assertEquals(checks, [{ type: "contains", value: "a", name: "m".repeat(256) }]);
});

Deno.test("a threshold of defaultTest holds for tests without one: none of their checks is required", async () => {
  const assert = [{ type: "contains", value: "a" }];
  const defaultTest = { threshold: 0.5 };
  const { scenarios } = await read(
    JSON.stringify({ prompts: ["Hi"], defaultTest, tests: [{ assert }] }),
  );
  assertEquals(scenarios[0]!.interactions[0]!.checks?.map(({ required }) => required), [undefined]);
});

Deno.test("postprocess is promptfoo's earlier name of transform", async () => {
  const assert = [{ type: "contains", value: "a" }];
  const options = { postprocess: "output.trim()" };
  const { scenarios, leftOut } = await read(
    JSON.stringify({ prompts: ["Hi"], tests: [{ assert, options }] }),
  );
  assertEquals(scenarios[0]!.interactions[0]!.checks, undefined);
  assertEquals(leftOut.map(({ what }) => what), [
    "options of a test",
    "assertions of the type contains with a transform",
  ]);
});

/** A configuration with one prompt and one test, as JSON. */
const configure = (prompt: string, vars: Record<string, unknown>) =>
  JSON.stringify({ prompts: [prompt], tests: [{ vars }] });

Deno.test("a chat prompt of promptfoo keeps its messages whatever its variables hold", async () => {
  const chat = [
    { role: "user", content: "Hi" },
    { role: "assistant", content: "Hello" },
    { role: "user", content: "{{question}}" },
  ];
  const yaml = "- role: user\n  content: Hi\n- role: assistant\n  content: Hello\n" +
    '- role: user\n  content: "{{question}}"\n';
  for (const question of ['What is "foo"?', "two\nlines", "C:\\temp", "a: b # c"]) {
    for (const prompt of [JSON.stringify(chat), JSON.stringify(chat, null, 2), yaml]) {
      const found = await read(configure(prompt, { question }));
      assertEquals(turns(found), [[[question, undefined]]], prompt);
      assertEquals(found.scenarios[0]!.prior_messages, chat.slice(0, 2));
      assertEquals(found.leftOut, []);
    }
  }
});

Deno.test("a chat prompt of promptfoo may become one by its variables", async () => {
  for (
    const prompt of [
      '[{"role": "user", "content": {{text}}}]',
      "- role: user\n  content: {{text}}\n",
    ]
  ) {
    assertEquals(turns(await read(configure(prompt, { text: '"Hi"' }))), [[["Hi", undefined]]]);
  }
  const messages = [{ role: "user", content: 'Say "Hi"' }];
  for (const value of [messages, JSON.stringify(messages)]) {
    const found = await read(configure("{{messages}}", { messages: [value] }));
    assertEquals(turns(found), [[['Say "Hi"', undefined]]]);
  }
  for (const prompt of ["[INST] {{text}} [/INST]", "- roles: {{text}}", "- role: [{{text}}"]) {
    const [turn] = turns(await read(configure(prompt, { text: "Hi" })));
    assertEquals(turn, [[prompt.replace("{{text}}", "Hi"), undefined]]);
  }
});

Deno.test("variables of promptfoo may contain others that contain others", async () => {
  const vars = { whole: "{{ start }}!", start: "Good {{ time }}", time: "morning\n" };
  const found = await read(configure("{{whole}}", vars));
  assertEquals(turns(found), [[["Good morning!", undefined]]]);
  assertEquals(found.leftOut, []);
});

Deno.test("variables of promptfoo that make an endless text are refused with their line", async () => {
  const { message } = await refuse(configure("{{a}}", { a: "{{a}}".repeat(50) }));
  assertEquals(message, "line 1: its variables make a text of over 16000000 characters");
});

Deno.test("JSON of promptfoo is recognised whatever stands first in it", async () => {
  const vars = { question: "Hi" };
  const $schema = "https://promptfoo.dev/config-schema.json";
  for (
    const content of [
      { $schema, description: "d", prompts: ["{{question}}"], tests: [{ vars }] },
      { description: "d", providers: ["openai:gpt-4o"], tests: [{ description: "t", vars }] },
      [{ description: "t", vars }],
    ]
  ) {
    const found = await read(JSON.stringify(content, null, 2));
    assertEquals([found.format, turns(found)], ["promptfoo", [[["Hi", undefined]]]]);
  }
  const ours = { id: "a", tests: 1, interactions: [{ id: "1", user_message: "Hi" }] };
  for (const content of [ours, [ours], { tests: 1, test_batch: [ours] }]) {
    assertEquals((await read(JSON.stringify(content, null, 2))).format, "json");
  }
});

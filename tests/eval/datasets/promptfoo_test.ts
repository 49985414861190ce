import { assertEquals } from "@std/assert";
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

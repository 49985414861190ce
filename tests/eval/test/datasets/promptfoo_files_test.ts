import { assertEquals, assertStringIncludes } from "@std/assert";
import { cliContext } from "../../../fakes/cli_context.ts";
import { datasetService } from "../../../fakes/dataset_service.ts";
import { open, read, refuse, turns } from "./imported.ts";

/** promptfoo's tests as tables, and in other files than the configuration. */

Deno.test("a table of promptfoo's tests is read, and its expectations are checks", async () => {
  const found = await read(
    "question,__expected,__expected2,__description,__threshold,__metric,__metadata:topic\n" +
      "Capital?,Paris,not-icontains: sorry,about France,,,places\n" +
      'Fruit?,"contains-any: apple, ""a, b""",similar(0.9): A pear,,0.5,fruit,\n' +
      "Time?,is-json,similar:noon,,,,\n" +
      "Note: it?,Note: equals,,,,,\n" +
      "Code?,fn:output.length,grade: is short,,,,\n",
  );
  assertEquals(found.format, "promptfoo");
  assertEquals(found.scenarios.map(({ interactions: [turn] }) => turn!.checks), [
    [
      { type: "equals", value: "Paris", required: true },
      { type: "contains", value: "sorry", ignore_case: true, negate: true, required: true },
    ],
    [
      { type: "contains", value: ["apple", "a, b"], match: "any", name: "fruit" },
      { type: "similar", value: "A pear", min: 0.9, name: "fruit" },
    ],
    [
      { type: "json", required: true },
      { type: "similar", value: "noon", min: 0.8, required: true },
    ],
    [{ type: "equals", value: "Note: equals", required: true }],
    [{ type: "judge", value: "is short", required: true }],
  ]);
  assertEquals(turns(found)[0], [["Capital?", "Paris"]]);
  assertEquals(found.scenarios[0]!.description, "about France");
  assertEquals(found.leftOut.map(({ what, line }) => [what, line]), [
    ["__metadata:topic of a test", 2],
    ["threshold of a test: its checks count, but none is required", 3],
    ["assertions of the type javascript", 6],
  ]);
});

Deno.test("scenarios, references and sets of assertions of promptfoo are named as not read", async () => {
  const found = await read(JSON.stringify({
    prompts: ["Say {{word}}"],
    scenarios: [{ config: [{ vars: { word: "no" } }] }],
    defaultTest: { assert: [{ $ref: "#/assertionTemplates/short" }] },
    assertionTemplates: {},
    tests: [
      { vars: { word: "yes" }, assert: [{ type: "assert-set", assert: [] }] },
      { $ref: "#/tests/0" },
    ],
  }));
  assertEquals(turns(found), [[["Say yes", undefined]]]);
  assertEquals(found.leftOut.map(({ what }) => what), [
    "scenarios of the configuration",
    "assertionTemplates of the configuration",
    "assertions of the type assert-set",
    "assertions with $ref",
    "tests with $ref",
  ]);
  const { message } = await refuse("scenarios: []", { name: "t.yaml" });
  assertStringIncludes(message, "there is no list of tests");
});

const CONFIG = `
prompts: [file://prompts/ask.txt]
defaultTest: {assert: [{type: not-contains, value: sorry}]}
tests:
  - file://tests.csv
  - more.yaml
  - vars: {word: three}
  - tests/*.yaml
`;
const FILES = {
  "bot/promptfooconfig.yaml": CONFIG,
  "bot/prompts/ask.txt": "Say {{word}}\n",
  "bot/tests.csv": "word,__expected\none,contains: o\n",
  "bot/more.yaml": "- vars: {word: two}\n",
};

Deno.test("the command line reads promptfoo's tests and prompts in other files, from where these are", async () => {
  const { run } = cliContext({ files: FILES });
  const put = await run("datasets", "put", "words", "bot/promptfooconfig.yaml");
  assertEquals([put.code, put.err], [
    0,
    "left out: tests that are no objects, such as paths of files (first in line 8)\n",
  ]);
  const { out } = await run("datasets", "get", "words");
  const scenarios = out.trim().split("\n").map((line) => JSON.parse(line));
  assertEquals(
    scenarios.map(({ id, interactions: [turn] }) => [id, turn.user_message, turn.checks.length]),
    [["test-1", "Say one", 2], ["test-2", "Say two", 1], ["test-3", "Say three", 1]],
  );
});

Deno.test("another file of promptfoo that is missing or wrong is named", async () => {
  const put = async (more: Record<string, string | undefined>) => {
    const files = Object.entries({ ...FILES, ...more }).filter(([, text]) => text !== undefined);
    const { run } = cliContext({ files: Object.fromEntries(files) as Record<string, string> });
    return (await run("datasets", "put", "words", "bot/promptfooconfig.yaml")).err;
  };
  assertStringIncludes(await put({ "bot/more.yaml": undefined }), "cannot read bot/more.yaml");
  const table = await put({ "bot/tests.csv": "word,__expected\na,b\na,b,c\n" });
  assertStringIncludes(table, "line 3: file://tests.csv: Invalid Record Length");
  assertStringIncludes(await put({ "bot/more.yaml": "- a: 1\n- b: [" }), "line 2: more.yaml: ");
  const config = CONFIG.replace("ask.txt]", "ask.txt, more]");
  const tests = "- vars: {word: two}\n  foo: 1";
  const remarks = await put({ "bot/promptfooconfig.yaml": config, "bot/more.yaml": tests });
  assertStringIncludes(remarks, "left out: foo of a test in more.yaml (first in line 1)");
  assertStringIncludes(remarks, "left out: all prompts but the first (first in line 1)");
  const pattern = "- {vars: {word: a}, assert: [{type: regex, value: '('}]}";
  assertStringIncludes(await put({ "bot/more.yaml": pattern }), "line 1: more.yaml: ");
  const lists = `\n- vars: {word: [${"a,".repeat(1_001)}]}`;
  assertStringIncludes(await put({ "bot/more.yaml": lists }), "line 2: more.yaml: the lists");
});

Deno.test("a test of promptfoo that is called like a part of every object is no file", async () => {
  const found = await read("tests: [constructor, {vars: {q: a}}, __proto__]");
  assertEquals(turns(found), [[["a", undefined]]]);
  assertEquals(found.leftOut.map(({ what, count }) => [what, count]), [
    ["tests that are no objects, such as paths of files", 2],
  ]);
  assertStringIncludes((await refuse("tests: valueOf")).reason, "there is no list of tests");
});

Deno.test("the service reads no file that a configuration of promptfoo names", async () => {
  const { call, put } = datasetService();
  const existing = new URL("../../deno.json", import.meta.url).href;
  const { status, json } = await put(
    "/datasets/words",
    `prompts: [${existing}, "Say {{q}}"]
defaultTest: ${existing}
tests: [file://more.yaml, {vars: {q: a}}]`,
  );
  assertEquals([status, json.left_out.map(({ what }: { what: string }) => what)], [201, [
    "defaultTest in another file",
    "prompts in other files",
    "tests that are no objects, such as paths of files",
  ]]);
  const { json: { test_batch } } = await call("/datasets/words");
  assertEquals(test_batch[0].interactions[0].user_message, "Say a");
});

Deno.test("tests of promptfoo that the command line cannot read are not said to be for the command line", async () => {
  const notRead = "scenarios, programs, addresses and several files (*) are not read";
  for (const tests of ["tests.py", "file://t/*.yaml", "https://example.com/t.csv", ""]) {
    const { run } = cliContext({ files: { "c.yaml": `tests: ${tests}` } });
    const { err } = await run("datasets", "put", "words", "c.yaml");
    assertStringIncludes(err, `line 1: there is no list of tests; ${notRead}`);
  }
});

Deno.test("a table of promptfoo may begin with empty lines", async () => {
  const { format, scenarios, leftOut } = await read("\n\nq,__expected\nWho?,me\n", {
    name: "t.csv",
  });
  assertEquals([format, scenarios.length, leftOut], ["promptfoo", 1, []]);
});

Deno.test("prompts of promptfoo in other files are its messages, one line of JSONL each", async () => {
  const ask = async (name: string, prompt: string) => {
    const files = {
      "c.yaml": `prompts: [file://${name}]\ntests: [{vars: {q: a}}]`,
      [name]: prompt,
    };
    const { run } = cliContext({ files });
    await run("datasets", "put", "words", "c.yaml");
    const { interactions, system_prompt } = JSON.parse((await run("datasets", "get", "words")).out);
    return [system_prompt, interactions.map((turn: { user_message: string }) => turn.user_message)];
  };
  const lines = '[{"role":"user","content":"Say {{q}}"}]\n[{"role":"user","content":"No"}]\n';
  assertEquals(await ask("p.jsonl", lines), [undefined, ["Say a"]]);
  const yaml = "# A comment\r\n\n---\n - role: system\n   content: Be brief\n" +
    " - role: user\n   content: Say {{q}}\n";
  assertEquals(await ask("p.yaml", yaml), ["Be brief", ["Say a"]]);
  assertEquals(await ask("p.md", "# Say\n---\n{{q}}"), [undefined, ["# Say\n---\na"]]);
});

Deno.test("tests of promptfoo without their prompt are refused: a variable is no question", async () => {
  for (
    const table of ["language,__expected\nFrench,Bonjour\n", "input,language,__expected\na,b,c\n"]
  ) {
    const { message } = await refuse(table);
    assertStringIncludes(message, "line 2: there is no prompt that the variables");
  }
});

Deno.test("promptfoo's tests are read one per line", async () => {
  const tests = [
    { vars: { question: "Capital?" }, assert: [{ type: "equals", value: "Paris" }] },
    { vars: { question: "Fruit?" } },
  ];
  const found = await read(tests.map((test) => JSON.stringify(test)).join("\n"));
  assertEquals(found.format, "promptfoo");
  assertEquals(turns(found), [[["Capital?", "Paris"]], [["Fruit?", undefined]]]);
});

Deno.test("a template of promptfoo may have any number of blanks", async () => {
  const blanks = " ".repeat(50_000);
  const prompt = `{{${blanks}question${blanks}}} {{${blanks}`;
  const found = await read(
    JSON.stringify({ prompts: [prompt], tests: [{ vars: { question: "Who?" } }] }),
  );
  assertEquals(turns(found), [[[`Who? {{${blanks}`, undefined]]]);
});

Deno.test("lists in variables of promptfoo make a test of each combination, the last one changing first", async () => {
  const vars = { a: ["1", "2"], b: "-", c: ["x", "y", "z"], question: "{{a}}{{b}}{{c}}" };
  const { scenarios } = await read(JSON.stringify({ tests: [{ vars }] }));
  assertEquals(
    scenarios.map(({ id, interactions }) => [id, interactions[0]!.user_message]),
    ["1-x", "1-y", "1-z", "2-x", "2-y", "2-z"].map((message, index) => [
      index === 0 ? "test-1" : `test-1.${index + 1}`,
      message,
    ]),
  );
});

Deno.test("a test of promptfoo may have any number of variables, but none twice", async () => {
  const names = Array.from({ length: 20_000 }, (_, index) => `v${index}`);
  const lines = [
    "tests:",
    "- vars:",
    ...names.map((name) => `    ${name}: x`),
    "    question: Who?",
  ];
  const found = await read(lines.join("\n"), { name: "t.yaml" });
  assertEquals(turns(found), [[["Who?", undefined]]]);
  assertEquals(found.leftOut.length, 100);
  const repeated = await refuse([...lines, "    v7: y"].join("\n"), { name: "t.yaml" });
  assertEquals([repeated.line, repeated.reason], [
    lines.length + 1,
    "the key v7 occurs twice",
  ]);
});

Deno.test("what is left out of a long file of promptfoo is counted over all of it", async () => {
  const tests = Array.from(
    { length: 450 },
    (_, index) => ({ vars: { question: `${index}?` }, options: {} }),
  );
  const { scenarios, leftOut } = await read(JSON.stringify({ tests }, null, 1));
  assertEquals(
    scenarios.map(({ interactions }) => interactions[0]!.user_message),
    tests.map(({ vars }) => vars.question),
  );
  assertEquals(leftOut, [{ what: "options of a test", count: 450, line: 3 }]);
});

Deno.test("a wrong test behind hundreds of others of promptfoo is refused with its line", async () => {
  const tests = Array.from({ length: 450 }, () => "- vars: {question: Who?}");
  assertEquals(
    (await refuse([...tests, "- vars: {}"].join("\n"), { name: "t.yaml" })).line,
    451,
  );
});

Deno.test("a file of promptfoo that would take all memory is refused", async () => {
  const { reason } = await refuse(`tests: [${"a,".repeat(120_000)}]`, {
    name: "t.yaml",
  });
  assertStringIncludes(reason, "more than 200000 tokens");
});

Deno.test("a file of promptfoo that is nested too deeply is refused with its line", async () => {
  const lists = "[".repeat(5_000) + "]".repeat(5_000);
  const text = `tests:\n- vars:\n    question: Who?\n    more: ${lists}\n`;
  const { line, reason } = await refuse(text, { name: "t.yaml" });
  assertEquals([line, reason], [4, "it is nested too deeply"]);
});

Deno.test("the tests of a long table of promptfoo are numbered through, and have their lines", async () => {
  const rows = Array.from({ length: 250 }, (_, index) => `${index}?,yes,${index < 249 ? "" : "x"}`);
  const { scenarios, leftOut } = await read(["question,__expected,__other", ...rows].join("\n"));
  assertEquals(
    scenarios.map(({ id, interactions }) => [id, interactions[0]!.user_message]),
    rows.map((_, index) => [`test-${index + 1}`, `${index}?`]),
  );
  assertEquals(leftOut, [{ what: "__other of a test", count: 1, line: 251 }]);
});

Deno.test("a table of promptfoo is read no further than its tests are taken", async () => {
  const table = `question,__expected\n${"Who?,me\n".repeat(50_000)}too,many,cells\n`;
  const { scenarios } = open([table], { name: "t.csv" });
  assertEquals((await scenarios.next()).value?.scenario.id, "test-1");
  await scenarios.return(undefined);
});

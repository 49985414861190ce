import { assertEquals, assertStringIncludes } from "@std/assert";
import { promptfoo } from "../../../eval/datasets/formats/promptfoo.ts";
import { importScenarios } from "../../../eval/datasets/import_scenarios.ts";
import { read, refuse, turns } from "./imported.ts";

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
    "the key v7 stands there twice",
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
  assertStringIncludes(reason, "more than 200000 words");
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
  const { scenarios } = importScenarios(ReadableStream.from([table]), { format: promptfoo });
  assertEquals((await scenarios.next()).value?.scenario.id, "test-1");
  await scenarios.return(undefined);
});

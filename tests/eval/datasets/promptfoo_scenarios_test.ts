import { assertEquals } from "@std/assert";
import { read, turns } from "./imported.ts";

const SCENARIOS = `
prompts: ["{{question}}"]
scenarios:
  - config:
      - vars: {language: Spanish, hello: Hola}
      - vars: {language: French, hello: Bonjour}
        assert: [{type: not-contains, value: "!"}]
    tests:
      - description: a greeting
        vars: {question: "Hello in {{language}}?"}
        assert: [{type: contains, value: "{{hello}}"}]
      - vars: {question: "Good night in {{language}}?"}
  - file://more.yaml
`;

Deno.test("promptfoo's scenarios have each test with each entry of their config", async () => {
  const found = await read(SCENARIOS);
  assertEquals(found.format, "promptfoo");
  assertEquals(turns(found).flat().map(([question]) => question), [
    "Hello in Spanish?",
    "Good night in Spanish?",
    "Hello in French?",
    "Good night in French?",
  ]);
  assertEquals(found.scenarios.map(({ id }) => id), [
    "scenario-1-1-1",
    "scenario-1-1-2",
    "scenario-1-2-1",
    "scenario-1-2-2",
  ]);
  assertEquals(found.scenarios[2]!.description, "a greeting");
  assertEquals(found.scenarios.map(({ interactions: [turn] }) => turn!.checks?.length ?? 0), [
    ...[1, 0, 2, 1],
  ]);
  assertEquals(found.leftOut, [{ what: "scenarios in other files", count: 1, line: 1 }]);
});

Deno.test("a configuration of promptfoo may have scenarios beside its tests", async () => {
  const found = await read(JSON.stringify({
    scenarios: [{ config: [{ vars: { question: "A?" } }] }],
    tests: [{ vars: { question: "B?" } }],
    prompts: ["{{question}}"],
  }));
  assertEquals(turns(found), [[["B?", undefined]], [["A?", undefined]]]);
});

Deno.test("references in promptfoo's scenarios are followed before tests and config become one", async () => {
  const found = await read(JSON.stringify({
    assertionTemplates: {
      scenario: { config: [{ $ref: "#/assertionTemplates/entry" }] },
      entry: { vars: { $ref: "#/assertionTemplates/vars" } },
      vars: { q: "a", more: "!" },
      test: { vars: { end: "{{more}}" } },
    },
    prompts: ["Say {{q}}{{end}}"],
    scenarios: [{
      $ref: "#/assertionTemplates/scenario",
      tests: [{ $ref: "#/assertionTemplates/test" }],
    }],
  }));
  assertEquals(turns(found), [[["Say a!", undefined]]]);
  assertEquals(found.leftOut, []);
});

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { createContentChecks } from "../../../../eval/assess/checks/content_checks.ts";
import { negated } from "../../../../eval/schemas/decision.ts";
import { Check } from "../../../../eval/schemas/check_kinds.ts";
import { CASES } from "./cases.ts";

// One worker for all steps: starting it takes longer than they do.
Deno.test("checks of a text", async (t) => {
  using checks = createContentChecks();
  await t.step("every case of the table has the expected verdict", async () => {
    const wrong: unknown[] = [];
    for (const [input, reply, expected] of CASES) {
      const check = Check.parse(input);
      assert(check.type !== "judge" && check.type !== "similar");
      const decision = await checks.decide({ check, text: reply });
      const found = check.negate ? negated(decision) : decision;
      if (found.value !== expected) wrong.push({ input, reply, found });
      if (found.value !== 1) assert(found.reason, `no reason: ${JSON.stringify(input)}`);
    }
    assertEquals(wrong, []);
    assert(CASES.length >= 150, `${CASES.length} cases`);
  });

  await t.step("patterns and schemas that cannot be used say what is wrong with them", async () => {
    const faults = await checks.inspect([
      { type: "regex", value: "(" },
      { type: "regex", value: "(?=lookahead)" },
      { type: "regex", value: "((a{30}){30}){30}" },
      { type: "regex", value: "fine" },
      { type: "json", value: { type: "strin" } },
      { type: "json", value: { $ref: "https://example.com/elsewhere" } },
      { type: "json", value: { pattern: "(a" } },
      { type: "json", value: { $id: "https://example.com/a", type: "string" } },
      { type: "json", value: { $id: "https://example.com/a", type: "number" } },
      { type: "json" },
    ]);
    assertEquals(faults.map((fault) => fault === null), [
      ...[false, false, false, true],
      ...[false, false, false, true, true, true],
    ]);
    assertStringIncludes(faults[4]!, "type");
  });

  await t.step(
    "a schema is read by the draft that it names, or whose keywords it has",
    async () => {
      const tuple = [{ type: "number" }];
      const schemas = [
        { $schema: "https://json-schema.org/draft/2019-09/schema", items: tuple },
        { $schema: "http://json-schema.org/draft-06/schema#", items: tuple },
        { $schema: "http://json-schema.org/draft-04/schema#", items: tuple },
        { $schema: "https://json-schema.org/draft-07/schema", items: tuple },
        { prefixItems: tuple },
        { contains: { type: "string" }, minContains: 2 },
        { items: { unevaluatedProperties: false, type: "number" } },
      ];
      const inputs = schemas.map((value) => ({ type: "json" as const, value }));
      assertEquals(await checks.inspect(inputs), inputs.map(() => null));
      const found = await checks.decideAll(inputs.map((check) => ({ check, text: '["a"]' })));
      assertEquals(found.map(({ value }) => value), inputs.map(() => 0 as const));
    },
  );

  await t.step("the language of a reply is that of its words, not of its code", async () => {
    const sql = "```sql\nSELECT name, email FROM customers WHERE city = 'Rome' ORDER BY name;\n```";
    const cases: [language: "de" | "fr" | "en", reply: string, expected: 0 | 1][] = [
      ["de", `${sql}\nDiese Abfrage liefert die Kunden.`, 1],
      ["en", `${sql}\nDiese Abfrage liefert die Kunden.`, 0],
      ["fr", "Voici le code :\n\n~~~\ndef add(a, b):\n    return a + b", 1],
      ["de", "Der Befehl `git checkout --ours the-file` hilft hier weiter.", 1],
      ["de", "Mehr dazu: https://example.com/the-help/about-your-orders-and-returns", 1],
      ["de", sql, 0],
    ];
    const inputs = cases.map(([value, text]) => ({
      check: { type: "language" as const, value },
      text,
    }));
    const found = await checks.decideAll(inputs);
    assertEquals(found.map(({ value }) => value), cases.map(([, , expected]) => expected));
  });

  await t.step("the ids of one caller's schemas do not matter to those of others", async () => {
    const draft7 = "http://json-schema.org/draft-07/schema#";
    const draft2020 = "https://json-schema.org/draft/2020-12/schema";
    const nested = { $id: "https://example.com/part", type: "string" };
    const schemas = [
      { $id: draft7, type: "object" },
      { $id: draft7, type: "array" },
      { $id: draft2020, $schema: draft2020, type: "object" },
      { $schema: draft2020, type: "array" },
      { $id: "https://example.com/whole", definitions: { part: nested }, type: "object" },
      { ...nested, type: "object" },
      { type: "object", required: [] },
    ];
    const inspected = await checks.inspect(schemas.map((value) => ({ type: "json", value })));
    assertEquals(inspected, schemas.map(() => null));
    for (const { type } of schemas) {
      const check = { type: "json" as const, value: { type, minItems: 0, $ref: draft7 } };
      assertEquals(
        (await checks.decide({ check, text: '{"minimum": 1}' })).value,
        type === "object" ? 1 : 0,
      );
    }
  });

  await t.step("many texts are decided in their order, long ones too", async () => {
    const check = { type: "regex" as const, value: "^x" };
    const texts = Array.from({ length: 250 }, (_, index) => index % 3 === 0 ? `x${index}` : "a");
    texts[7] = "x".repeat(150_000);
    texts[8] = "a".repeat(200_001);
    const found = await checks.decideAll(texts.map((text) => ({ check, text })));
    assertEquals(
      found.map(({ value }) => value),
      texts.map((text) => text.startsWith("x") ? 1 : 0),
    );
  });

  await t.step("a reply too long for a pattern does not meet it", async () => {
    const { value, reason } = await checks.decide({
      check: { type: "regex", value: "x" },
      text: "a".repeat(200_001),
    });
    assertEquals(value, 0);
    assertStringIncludes(reason!, "200,000 characters");
  });
});

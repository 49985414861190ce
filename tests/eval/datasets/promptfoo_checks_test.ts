import { assertEquals } from "@std/assert";
import { read } from "./imported.ts";

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

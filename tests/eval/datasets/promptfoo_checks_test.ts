import { assertEquals } from "@std/assert";
import type { Interaction } from "../../../eval/schemas/scenario.ts";
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

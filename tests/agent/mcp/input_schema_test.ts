import { assertEquals } from "@std/assert";
import { toParameters } from "../../../agent/mcp/input_schema.ts";

const text = { type: "string" };
const needs = (name: string) => ({ properties: { [name]: text }, required: [name] });

Deno.test("a definition that many alternatives name is read once", () => {
  const options = Array.from({ length: 4000 }, () => ({ $ref: "#/$defs/many" }));
  const properties = Object.fromEntries(options.map((_, i) => [`p${i}`, text]));
  const seen = toParameters({ type: "object", oneOf: options, $defs: { many: { properties } } });
  assertEquals(Object.keys(seen.properties as object).length, 4000);
});

Deno.test("models see properties, also of a tool without arguments", () => {
  assertEquals(toParameters({ type: "object" }), { type: "object", properties: {} });
  const schema = { type: "object", properties: { a: text }, required: ["a"] };
  const $schema = "http://json-schema.org/draft-07/schema#";
  assertEquals(toParameters({ $schema, ...schema }), schema);
});

Deno.test("models see alternatives at the top of a schema as properties, and in words", () => {
  const kind = (name: string) => ({ properties: { kind: { const: name } } });
  const schema = {
    type: "object",
    description: "A search.",
    properties: { id: text },
    required: ["id"],
    $defs: { page: needs("page") },
    allOf: [{ $ref: "#/$defs/page" }],
    anyOf: [kind("x"), kind("y")],
  };
  const { description, ...parameters } = toParameters(schema);
  assertEquals(parameters, {
    type: "object",
    properties: { id: text, page: text, kind: { anyOf: [{ const: "x" }, { const: "y" }] } },
    required: ["id", "page"],
    $defs: { page: needs("page") },
  });
  const rules = JSON.stringify({ allOf: schema.allOf, anyOf: schema.anyOf });
  assertEquals(description, `A search.\nThe arguments must also fit ${rules}`);
});

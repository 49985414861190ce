import { assertEquals } from "@std/assert";
import { toArgumentSchema, toParameters } from "../../../agent/mcp/input_schema.ts";

const text = { type: "string" };
const needs = (name: string) => ({ properties: { [name]: text }, required: [name] });
const either = { oneOf: [needs("a"), needs("b")] };

/** Arguments that are right by JSON Schema. */
const RIGHT: [string, Record<string, unknown>, Record<string, unknown>][] = [
  ["one of two options without a type", { type: "object", ...either }, { a: "1" }],
  ["the same in a list", { properties: { l: { type: "array", items: either } } }, {
    l: [{ b: "1" }],
  }],
  ["one of two ranges", { properties: { n: { oneOf: [{ maximum: 3 }, { minimum: 10 }] } } }, {
    n: 2,
  }],
  ["a reference to a URI", { properties: { at: { ...text, format: "uri-reference" } } }, {
    at: "/a",
  }],
  ["an address with umlauts", { properties: { to: { ...text, format: "email" } } }, {
    to: "jörg@exämple.test",
  }],
  ["a UUID of any version", { properties: { id: { ...text, format: "uuid" } } }, {
    id: "12345678-1234-1234-1234-123456789012",
  }],
  ["an object of an enum", { properties: { o: { enum: [{ x: 1 }, "y"] } } }, { o: { x: 1 } }],
];

for (const [what, schema, args] of RIGHT) {
  Deno.test(`a call with ${what} is not refused before it reaches the server`, () => {
    assertEquals(toArgumentSchema({ type: "object", ...schema }).safeParse(args).error, undefined);
  });
}

Deno.test("a definition that many alternatives name is read once", () => {
  const options = Array.from({ length: 4000 }, () => ({ $ref: "#/$defs/many" }));
  const properties = Object.fromEntries(options.map((_, i) => [`p${i}`, text]));
  const seen = toParameters({ type: "object", oneOf: options, $defs: { many: { properties } } });
  assertEquals(Object.keys(seen.properties as object).length, 4000);
});

Deno.test("options that nothing fits are refused, and a property may be named like a keyword", () => {
  const schema = toArgumentSchema({
    type: "object",
    properties: { format: text, oneOf: text, n: { oneOf: [text, { type: "number" }] } },
    required: ["format"],
  });
  const cases: [Record<string, unknown>, boolean][] = [
    [{ format: "a", oneOf: "b", n: 1 }, true],
    [{ format: "a", n: true }, false],
    [{ format: 1 }, false],
    [{}, false],
  ];
  for (const [args, isValid] of cases) assertEquals(schema.safeParse(args).success, isValid);
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

import { assert, assertEquals } from "@std/assert";
import { readToolList, type ToolPage, toParameters } from "../../../agent/mcp/tool_list.ts";
import { names, openSource, session, sourceBecomes } from "../../fakes/mcp_sessions.ts";
// the pauses between readings outlive a test
import { test } from "../../fakes/leaky.ts";

const tool = (name: string, description = name) => ({ name, description, inputSchema: {} });

/** A server whose list never ends. */
function endless(page: (number: number) => ToolPage["tools"]) {
  let asked = 0;
  return {
    get asked() {
      return asked;
    },
    read: () => Promise.resolve({ tools: page(asked++), nextCursor: `${asked}` }),
  };
}

test("a list is read page by page", async () => {
  const pages: Record<string, ToolPage> = {
    first: { tools: [tool("a")], nextCursor: "second" },
    second: {
      tools: [
        { name: "b", title: "B", inputSchema: {} },
        { name: "c", inputSchema: {} },
        { ...tool("d", " "), title: "" }, // a blank description is refused by some models
      ],
    },
  };
  const { tools, leftOut } = await readToolList((cursor) =>
    Promise.resolve(pages[cursor ?? "first"]!)
  );
  assertEquals(tools.map(({ description }) => description), ["a", "B", "c", "d"]);
  assertEquals(leftOut, undefined);
});

test("a description of a megabyte is cut, and says so", async () => {
  const page = { tools: [tool("a", "words ".repeat(180_000))] };
  const { tools } = await readToolList(() => Promise.resolve(page));
  assertEquals(tools[0]!.description.length, 20_000);
  assert(tools[0]!.description.endsWith("… (cut)"));
});

test("a tool that can only be called as a task is left out", async () => {
  const supporting = (taskSupport: string) => ({
    ...tool(taskSupport),
    execution: { taskSupport },
  });
  const listed = ["required", "optional", "forbidden"].map(supporting);
  const odd = { ...tool("odd"), execution: "later" };
  const { tools, unusable } = await readToolList(() =>
    Promise.resolve({ tools: [...listed, odd] })
  );
  assertEquals(tools.map(({ name }) => name), ["optional", "forbidden", "odd"]);
  assertEquals(unusable, ["required"]);
});

test("reading a list stops after 100 pages, 1,000 tools or 8 MB, with the reason", async () => {
  const empty = endless(() => []);
  assertEquals(await readToolList(empty.read), { tools: [], leftOut: "over 100 pages" });
  assertEquals(empty.asked, 100);

  const many = endless((page) => [1, 2, 3].map((number) => tool(`t${page}-${number}`)));
  const { tools, leftOut } = await readToolList(many.read, {
    maxPages: 1_000,
    maxTools: 1_000,
    maxCharacters: Infinity,
  });
  assertEquals([tools.length, leftOut, many.asked], [1_000, "over 1000 tools", 334]);

  const properties = { a: { description: "x".repeat(1_000_000) } };
  const large = endless((page) => [{ name: `t${page}`, inputSchema: { properties } }]);
  const cut = await readToolList(large.read);
  assertEquals([cut.tools.length, cut.leftOut], [8, "over 8388608 characters"]);
});

test("a page that names itself as the next page is the last", async () => {
  let asked = 0;
  const { tools, leftOut } = await readToolList(() => {
    asked++;
    return Promise.resolve({ tools: [tool("a")], nextCursor: "same" });
  });
  assertEquals([asked, tools.length], [2, 1]);
  assert(leftOut);
});

test("a tool whose definition is invalid is left out by name, and the others are used", async () => {
  const page = {
    tools: [
      tool("a"),
      { name: "text", inputSchema: { type: "string" } },
      { name: "none" },
      { name: "properties", inputSchema: { properties: { n: "number" } } },
      { inputSchema: {} },
      null,
      { name: "b", description: null, inputSchema: { type: "object" } },
    ],
  };
  const { tools, unusable } = await readToolList(() => Promise.resolve(page));
  assertEquals(tools.map(({ name, description }) => [name, description]), [["a", "a"], ["b", "b"]]);
  assertEquals(unusable, ["text", "none", "properties", "(unnamed)", "(unnamed)"]);
});

test("an empty input schema is that of an object without properties", async () => {
  const { tools } = await readToolList(() => Promise.resolve({ tools: [tool("a")] }));
  assertEquals(tools[0]?.inputSchema, { type: "object" });
});

test("properties and required that are null count as left out, as servers in Go send them", async () => {
  const inputSchema = { type: "object", properties: null, required: null };
  const page = { tools: [{ name: "a", inputSchema }] };
  const { tools } = await readToolList(() => Promise.resolve(page));
  assertEquals(tools[0]?.inputSchema, { type: "object" });
});

test("of two tools of one name the first is used, and another definition is named", async () => {
  const page = { tools: [tool("a", "first"), tool("a", "first"), tool("a", "second"), tool("b")] };
  const { tools, unusable } = await readToolList(() => Promise.resolve(page));
  assertEquals(tools.map(({ description }) => description), ["first", "b"]);
  assertEquals(unusable, ["a"]);
});

test("true in place of a schema is an object, as models want it, at every level; false is left out", async () => {
  const toSchema = (any: unknown, never: Record<string, unknown> = {}) => ({
    type: "object",
    properties: {
      value: any,
      ...never,
      rules: { type: "array", items: { type: "object", properties: { model: any } } },
      list: { type: "array", items: any },
      either: { anyOf: [{ type: "string" }, any] },
      map: { type: "object", additionalProperties: true, default: { items: true } },
      closed: { type: "object", additionalProperties: false },
    },
    required: ["value"],
    $defs: { anything: any },
  });
  const page = { tools: [{ name: "a", inputSchema: toSchema(true, { never: false }) }] };
  const { tools, unusable } = await readToolList(() => Promise.resolve(page));
  assertEquals(unusable, undefined);
  assertEquals(tools[0]?.inputSchema, toSchema({}));
});

test("an array that may contain anything says so, for OpenAI refuses one without items", async () => {
  const given = {
    bare: { type: "array" },
    maybe: { type: ["array", "null"], items: null },
    any: { items: true },
  };
  const other = { list: { type: "array", items: { type: "string" } }, text: { type: "string" } };
  const toSchema = (inner: unknown) => ({
    type: "object",
    properties: { outer: { anyOf: [inner] }, ...other },
  });
  const inputSchema = toSchema({ type: "object", properties: given });
  const page = { tools: [{ name: "a", inputSchema }] };
  const { tools } = await readToolList(() => Promise.resolve(page));
  const properties = Object.fromEntries(
    Object.entries(given).map(([name, schema]) => [name, { ...schema, items: {} }]),
  );
  assertEquals(tools[0]?.inputSchema, toSchema({ type: "object", properties }));
});

test("tuples have no list of items, which providers refuse", async () => {
  const [text, number] = [{ type: "string" }, { type: "number" }];
  const properties = {
    earlier: { type: "array", items: [text, number] },
    open: { items: [text], additionalItems: number },
    closed: { type: "array", items: [true], additionalItems: false },
    later: { type: "array", prefixItems: [text, number], items: false },
  };
  const page = { tools: [{ name: "a", inputSchema: { type: "object", properties } }] };
  const { tools } = await readToolList(() => Promise.resolve(page));
  assertEquals(tools[0]?.inputSchema, {
    type: "object",
    properties: {
      earlier: { type: "array", prefixItems: [text, number], items: {} },
      open: { prefixItems: [text], items: number },
      closed: { type: "array", prefixItems: [{}], items: {} },
      later: { type: "array", prefixItems: [text, number], items: {} },
    },
  });
});

test("what a rule forbids stays forbidden", async () => {
  const text = { type: "string" };
  const toSchema = (never: unknown) => ({
    type: "object",
    properties: { a: text, b: text, list: { not: { items: never } } },
    anyOf: [{ properties: { a: never, b: text } }, { properties: { a: text, b: never } }],
  });
  const page = { tools: [{ name: "a", inputSchema: toSchema(false) }] };
  const { tools } = await readToolList(() => Promise.resolve(page));
  assertEquals(tools[0]?.inputSchema, toSchema({ not: {} }));
});

test("a schema that is nested without end does not stop the reading of a list", async () => {
  let inner: unknown = true;
  for (let level = 0; level < 1_000; level++) inner = { items: inner };
  const inputSchema = { type: "object", properties: { deep: inner } };
  const page = { tools: [{ name: "a", inputSchema }] };
  const { tools } = await readToolList(() => Promise.resolve(page));
  assertEquals(tools.length, 1);
});

test("arguments that may also be null are an object", async () => {
  const inputSchema = { type: ["object", "null"], properties: { a: { type: "string" } } };
  const page = { tools: [{ name: "a", inputSchema }] };
  const { tools } = await readToolList(() => Promise.resolve(page));
  assertEquals(tools[0]?.inputSchema, { ...inputSchema, type: "object" });
});

const text = { type: "string" };
const needs = (name: string) => ({ properties: { [name]: text }, required: [name] });

test("a definition that many alternatives name is read once", () => {
  const options = Array.from({ length: 4000 }, () => ({ $ref: "#/$defs/many" }));
  const properties = Object.fromEntries(options.map((_, i) => [`p${i}`, text]));
  const seen = toParameters({ type: "object", oneOf: options, $defs: { many: { properties } } });
  assertEquals(Object.keys(seen.properties as object).length, 4000);
});

test("models see properties, also of a tool without arguments", () => {
  assertEquals(toParameters({ type: "object" }), { type: "object", properties: {} });
  const schema = { type: "object", properties: { a: text }, required: ["a"] };
  const $schema = "http://json-schema.org/draft-07/schema#";
  assertEquals(toParameters({ $schema, ...schema }), schema);
});

test("models see alternatives at the top of a schema as properties, and in words", () => {
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

test("arguments reach the server as the model sent them: it checks them itself", async () => {
  const received: unknown[] = [];
  await using source = openSource(() =>
    Promise.resolve(session(["add"], {
      callTool(_, { args }) {
        received.push(args);
        return Promise.resolve("done");
      },
    }))
  );
  await sourceBecomes(source, (source) => names(source).includes("add"));
  const tool = source.current().find("add")!;
  const cases: unknown[] = [{}, { n: "text", more: [1] }, { constructor: "a", n: null }];
  for (const args of cases) await tool.run(tool.schema.parse(args), {});
  assertEquals(received, cases);
});

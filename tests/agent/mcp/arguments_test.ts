import { assert, assertEquals } from "@std/assert";
import { toArgumentSchema } from "../../../agent/mcp/input_schema.ts";
import { names, openSource, session, sourceBecomes } from "../../fakes/mcp_sessions.ts";

Deno.test("arguments are checked against the server's schema before the call", async () => {
  await using source = openSource(() => Promise.resolve(session(["add"])));
  await sourceBecomes(source, (source) => names(source).includes("add"));
  const { schema } = source.current().find("add")!;
  assertEquals([schema.safeParse({}).success, schema.safeParse({ n: 1 }).success], [false, true]);
});

Deno.test("arguments reach the server as the model sent them, without the defaults of the schema", () => {
  const schema = toArgumentSchema({
    type: "object",
    properties: {
      city: { type: "string", default: null },
      limit: { type: "number", default: "10" },
      unit: { type: "string", default: "metric" },
    },
    required: ["unit"],
  });
  assertEquals(schema.parse({}), {});
  assertEquals(schema.parse({ city: "Oslo", more: 1 }), { city: "Oslo", more: 1 });
  const { error } = schema.safeParse({ city: 5 });
  assertEquals(error?.issues.map(({ path, message }) => [path, message]), [
    [["city"], "Invalid input: expected string, received number"],
  ]);
});

Deno.test("an argument may have the name of something that every object has", () => {
  const property = { type: "string" };
  const schema = toArgumentSchema({ type: "object", properties: { constructor: property } });
  const accepts = (args: unknown) => schema.safeParse(args).success;
  assertEquals([{}, { constructor: "a" }, { constructor: 5 }].map(accepts), [true, true, false]);
});

Deno.test("patterns are Unicode patterns of linear time; others are left to the server", async () => {
  const properties = {
    name: { type: "string", pattern: "^\\p{L}+$" },
    one: { type: "string", pattern: "^.$" },
    slow: { type: "string", pattern: "^(a+)+$" },
    ahead: { type: "string", pattern: "^(?=a)" },
    tags: { type: "array", items: { type: "string", pattern: "^#" } },
  };
  const tools = [{ name: "add", description: "", inputSchema: { type: "object", properties } }];
  const listTools = () => Promise.resolve({ tools });
  await using source = openSource(() => Promise.resolve(session([], { listTools })));
  await sourceBecomes(source, (source) => names(source).includes("add"));
  const { schema } = source.current().find("add")!;
  const cases: [Record<string, unknown>, boolean][] = [
    [{ name: "Zoë", one: "🎈", slow: "aaa", ahead: "b", tags: ["#a"] }, true],
    [{ name: "Łódź" }, true],
    [{ name: "R2D2" }, false],
    [{ one: "ab" }, false],
    [{ slow: "a".repeat(50) + "b" }, false],
    [{ tags: ["#a", "b"] }, false],
    [{}, true],
  ];
  for (const [args, isValid] of cases) {
    assertEquals(schema.safeParse(args).success, isValid, JSON.stringify(args));
  }
  const { error } = schema.safeParse({ tags: ["#a", "b"] });
  assertEquals(error?.issues[0]?.path, ["tags", 1]);
});

/** Schemas and arguments whose check would take years. */
const HOSTILE: [string, Record<string, unknown>, unknown][] = [
  ["references that multiply", {
    properties: { n: { $ref: "#/$defs/d0" } },
    $defs: Object.fromEntries(Array.from({ length: 40 }, (_, depth) => {
      const next = { $ref: `#/$defs/d${depth + 1}` };
      return [`d${depth}`, depth < 39 ? { anyOf: [next, next] } : { type: "string" }];
    })),
  }, 5],
  ["a schema of a megabyte", {
    properties: { n: { enum: Array.from({ length: 100_000 }, (_, n) => `value ${n}`) } },
  }, "none"],
];

for (const [what, schema, n] of HOSTILE) {
  Deno.test(`${what} of a server is not checked by the agent, only by the server`, async () => {
    const tools = [{ name: "add", description: "", inputSchema: { type: "object", ...schema } }];
    const listTools = () => Promise.resolve({ tools });
    await using source = openSource(() => Promise.resolve(session([], { listTools })));
    await sourceBecomes(source, (source) => names(source).includes("add"));
    assert(source.current().find("add")!.schema.safeParse({ n }).success);
  });
}

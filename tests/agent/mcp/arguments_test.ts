import { assertEquals } from "@std/assert";
import { names, openSource, session, sourceBecomes } from "../../fakes/mcp_sessions.ts";

Deno.test("arguments reach the server as the model sent them: it checks them itself", async () => {
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

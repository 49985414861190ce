import { assertEquals } from "@std/assert";
import { read, turns } from "./imported.ts";

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

import { assertEquals } from "@std/assert";
import { parseToolArguments } from "../../../shared/providers/openai_messages.ts";

Deno.test("arguments are an object; none at all, in whatever form, are an empty one", () => {
  assertEquals(parseToolArguments(' {"n": 1} '), { n: 1 });
  for (const text of ["", " \n", "null", " null\n", "{}"]) {
    assertEquals(parseToolArguments(text), {}, JSON.stringify(text));
  }
  for (const text of ["[]", "1", '"{}"', '{"n": 1', "nul"]) {
    assertEquals(parseToolArguments(text), undefined, text);
  }
});

Deno.test("arguments that are nested too deeply are not read", () => {
  const nested = (levels: number) => `{"n":${"[".repeat(levels)}${"]".repeat(levels)}}`;
  assertEquals(parseToolArguments(nested(300)), undefined);
  assertEquals(parseToolArguments(nested(150)), JSON.parse(nested(150)));
});

import { assertEquals, assertRejects } from "@std/assert";
import fc from "seeded-fast-check";
import { LONG_JSON, parseLongJson } from "../../shared/long_json.ts";

const long = "x".repeat(LONG_JSON);
const many = (member: string) => new Array(30_000).fill(member).join(",");

const TEXTS: Record<string, string> = {
  "a short text": '{"a":[1,2]}',
  "a long array of short items": `[${many('[1,"a]"]')}]`,
  "a long object": `{${Array.from({ length: 20_000 }, (_, at) => `"key ${at}":{"b":[]}`).join()}}`,
  "long containers in each other": ` {"a" : [ {"b":[${many("1")}] } , 2, [${many("[]")}]\n] } `,
  "a long string": `{"a":"${long}\\\"]","b":[1]}`,
  "a long string alone": `"${long}"`,
  "a long key": `{"${long}":[${many("1")}]}`,
  "a key twice": `{"a":[${many("1")}],"b":2,"a":3}`,
  "a field called __proto__": `{"__proto__":[${many("1")}],"c":{"__proto__":1}}`,
  "an empty array of blanks": `[${" ".repeat(LONG_JSON)}]`,
  "escaped quotes and backslashes": `[${many('"\\\\\\"[{"')}]`,
};

for (const [what, text] of Object.entries(TEXTS)) {
  Deno.test(`${what} is parsed as JSON.parse does`, async () => {
    const found = await parseLongJson(text);
    assertEquals(JSON.stringify(found), JSON.stringify(JSON.parse(text)));
  });
}

const WRONG: Record<string, string> = {
  "a comma at the end": `[[${many("1")}],]`,
  "nothing between commas": `[[${many("1")}],,[${many("1")}]]`,
  "a comma at the end of an object": `{"a":[${many("1")}],}`,
  "the wrong bracket": `[${many("1")}}`,
  "no closing bracket": `[[${many("1")}]`,
  "a bracket too many": `[${many("1")}]]`,
  "something after the end": `[${many("1")}] 1`,
  "something before a container": `[2 [${many("1")}]]`,
  "something after a container": `{"a":[${many("1")}] 2}`,
  "no colon": `{"a" [${many("1")}]}`,
  "a key that is no string": `{1:[${many("1")}]}`,
  "an open string": `["${long}`,
  "no JSON at all": `<html>${long}`,
};

for (const [what, text] of Object.entries(WRONG)) {
  Deno.test(`a long text with ${what} is no JSON`, async () => {
    await assertRejects(() => parseLongJson(text), SyntaxError);
  });
}

Deno.test("any JSON that is made long, or broken, is read as JSON.parse reads it", async () => {
  const padding = JSON.stringify(new Array(3_000).fill({ a: ["b]", 1] }));
  const json = fc.json({ maxDepth: 4 });
  const cut = fc.tuple(
    fc.integer({ min: 0, max: 200 }),
    fc.constantFrom("", ",", "]", "}", '"', "x"),
  );
  await fc.assert(
    fc.asyncProperty(json, json, fc.option(cut), async (one, other, damage) => {
      let text = `{"a":[${one},{"b":[${padding},${padding},${padding}],"c":${other}}],"d":${one}}`;
      if (damage) text = text.slice(0, damage[0]) + damage[1] + text.slice(damage[0] + 1);
      let expected: string | undefined;
      try {
        expected = JSON.stringify(JSON.parse(text));
      } catch {
        expected = undefined;
      }
      const found = await parseLongJson(text).then(JSON.stringify, () => undefined);
      assertEquals(found === expected, true);
    }),
    { numRuns: 60 },
  );
});

import { assertEquals } from "@std/assert";
import { findObjects } from "../../../../eval/score/json_objects.ts";

const valuesIn = (text: string) => findObjects(text).map(({ value }) => value);

Deno.test("an object is found behind braces that are none, however many", () => {
  const text = `${"the set {a, b} ".repeat(3000)}gives {"grade": 6}`;
  assertEquals(valuesIn(text), [{ grade: 6 }]);
});

Deno.test("an object that is cut off, has a comma too many or a key twice is none", () => {
  for (const text of ['{"a": 1', '{"a": 1,}', '{"a": 1, "a": 2}', '{"b": {"a": 1, "a": 2}}']) {
    assertEquals(valuesIn(text), [], text);
  }
  assertEquals(valuesIn('{"a": ":", "b": [{"a": 1}, {"a": 2}]}').length, 1);
});

Deno.test("the place of an object is that of its braces", () => {
  const text = 'so {"a": "}"} it is';
  const { start, end } = findObjects(text)[0]!;
  assertEquals(text.slice(start, end), '{"a": "}"}');
});

Deno.test("the work on an answer of nothing but braces is bounded", () => {
  const object = '{"grade": 6}';
  assertEquals(findObjects(`${"{".repeat(1000)}${object}`).length, 1);
  assertEquals(findObjects(`${"{".repeat(20_000)}${object}`).length, 0); // given up before it
});

Deno.test("a text that is too long has no objects, not even at its beginning", () => {
  const object = '{"grade": 6}';
  assertEquals(findObjects(object.padEnd(50_000)).length, 1);
  assertEquals(findObjects(object.padEnd(50_001)).length, 0);
});

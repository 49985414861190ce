import { assert, assertEquals } from "@std/assert";
import { findObjects } from "../../../eval/judge/tolerant_json.ts";

Deno.test("an object is found behind braces that are none", () => {
  const text = `${"the set {a, b} ".repeat(20)}gives {"grade": 6,}`;
  assertEquals(findObjects(text).map(({ value }) => value), [{ grade: 6 }]);
});

Deno.test("an answer of nothing but braces is given up in time", () => {
  const begin = performance.now();
  assertEquals(findObjects("{".repeat(20_000)), []);
  const took = performance.now() - begin;
  assert(took < 1000, `took ${Math.round(took)} ms`); // 3.4 s where every brace is tried
});

Deno.test("braces are tried a hundred times, objects or not", () => {
  assertEquals(findObjects(`${"{x} ".repeat(99)}{"grade": 6}`).length, 1);
  assertEquals(findObjects(`${"{x} ".repeat(100)}{"grade": 6}`).length, 0);
});

Deno.test("a text that is too long has no objects, not even at its beginning", () => {
  const object = '{"grade": 6}';
  assertEquals(findObjects(object.padEnd(50_000)).length, 1);
  assertEquals(findObjects(object.padEnd(50_001)).length, 0);
});

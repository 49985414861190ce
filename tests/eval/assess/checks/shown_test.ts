import { assertEquals } from "@std/assert";
import { listOf, oneLineOf } from "../../../../eval/schemas/decision.ts";

Deno.test("the first three of some values are shown, and how many more there are", () => {
  assertEquals(listOf(["a"]), '"a"');
  assertEquals(listOf(["a", "b", "c"]), '"a", "b", "c"');
  assertEquals(listOf(["a", "b", "c", "d"], " or "), '"a" or "b" or "c" and 1 more');
});

Deno.test("a value is quoted, short and on one line", () => {
  assertEquals(oneLineOf('a "b"\nc'), '"a \\"b\\"\\nc"');
  assertEquals(oneLineOf("x".repeat(60)).length, 62);
  assertEquals(oneLineOf("x".repeat(61)).endsWith('…"'), true);
});

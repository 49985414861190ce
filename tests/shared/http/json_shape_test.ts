import { assertEquals } from "@std/assert";
import { isPlainShape } from "../../../shared/http/body/json_shape.ts";

const nested = (levels: number) => "[".repeat(levels) + "]".repeat(levels);
const listOf = (values: number) => `[${"0,".repeat(values - 1)}0]`;

Deno.test("JSON has a plain shape up to 200 levels and 500,000 values", () => {
  assertEquals([200, 201, 300].map((levels) => isPlainShape(`${nested(levels)} `)), [
    true,
    false,
    false,
  ]);
  assertEquals([500_000, 500_001].map((values) => isPlainShape(listOf(values))), [true, false]);
  assertEquals(isPlainShape(`[${"[],".repeat(300)}{}]`), true); // side by side is not deep
});

Deno.test("brackets in a string are no levels, also behind a quote that is escaped", () => {
  for (const before of ["", '"', "\\", '\\"', '""']) {
    const text = JSON.stringify({ text: `${before}${nested(300)}`, more: [] });
    assertEquals(isPlainShape(text), true, text.slice(0, 20));
    assertEquals(isPlainShape(`[${text},${nested(300)}]`), false, text.slice(0, 20));
  }
});

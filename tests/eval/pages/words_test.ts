import { assertEquals } from "@std/assert";
import { formatP } from "../../../eval/pages/words.ts";

Deno.test("a p-value has two digits, is never 0, and below 0.05 never reads as 0.050", () => {
  assertEquals(
    [1, 0.8281, 0.0504, 0.0496, 0.0059, 0.00012, 0.0001, 0.00009, 1e-12].map(formatP),
    ["1.0", "0.83", "0.050", "0.049", "0.0059", "0.00012", "0.00010", "< 0.0001", "< 0.0001"],
  );
});

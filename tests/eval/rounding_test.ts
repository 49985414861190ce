import { assertEquals } from "@std/assert";
import fc from "seeded-fast-check";
import { formatP, rounded, roundedBelow } from "../../eval/test/rounding.ts";

Deno.test("a number below a limit never reads as if it reached it, and is else rounded", () => {
  const show = (value: number) => roundedBelow(value, { limit: 0.7, digits: 3 });
  assertEquals([0.6, 0.6746, 0.69999, 0.7].map(show), [0.6, 0.675, 0.699, 0.7]);
  assertEquals(show((0.7 + 0.7 + 0.7) / 3), 0.7); // 0.6999999999999998 reaches 0.7
  const share = fc.double({ min: 0, max: 1, noNaN: true });
  fc.assert(fc.property(share, share, fc.integer({ min: 1, max: 5 }), (value, limit, digits) => {
    const shown = roundedBelow(value, { limit, digits });
    if (value < limit - 1e-12) return shown < limit;
    return shown === rounded(value, digits);
  }));
});

Deno.test("a p-value has two digits, is never 0, and below 0.05 never reads as 0.050", () => {
  assertEquals(
    [1, 0.8281, 0.0504, 0.0496, 0.0059, 0.00012, 0.0001, 0.00009, 1e-12].map(formatP),
    ["1.0", "0.83", "0.050", "0.049", "0.0059", "0.00012", "0.00010", "< 0.0001", "< 0.0001"],
  );
});

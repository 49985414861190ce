import { assertAlmostEquals, assertEquals } from "@std/assert";
import { krippendorffAlpha } from "../../../../eval/figures/grades/statistics.ts";

/** Columns of a table whose rows are raters; `*` is missing. */
function units(rows: string[]): number[][] {
  const cells = rows.map((row) => row.trim().split(/\s+/));
  return cells[0]!.map((_, unit) =>
    cells.flatMap((row) => row[unit] === "*" ? [] : [Number(row[unit])])
  );
}

Deno.test("Krippendorff's alpha is that of his example D: interval, four observers, missing values", () => {
  // K. Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011,
  // https://repository.upenn.edu/asc_papers/43), which prints .849; the fraction is that of its
  // coincidence matrix.
  const data = units([
    "1 2 3 3 2 1 4 1 2 * * *",
    "1 2 3 3 2 2 4 1 2 5 * 3",
    "* 3 3 3 2 3 4 2 2 5 1 *",
    "1 2 3 3 2 4 4 1 2 5 1 *",
  ]);
  assertAlmostEquals(krippendorffAlpha(data)!, 1 - 39 * (4 * 4 / 3 + 3 + 1 / 3) / 2240, 1e-6);
});

Deno.test("Krippendorff's alpha is that of the example in the documentation of fast-krippendorff", () => {
  // https://github.com/pln-fing-udelar/fast-krippendorff, README and sample.py.
  const data = units([
    "* * * * * 3 4 1 2 1 1 3 3 * 3",
    "1 * 2 1 3 3 4 3 * * * * * * *",
    "* * 2 1 3 4 4 * 2 1 1 3 3 * 4",
  ]);
  assertAlmostEquals(krippendorffAlpha(data)!, 0.8108448928121059, 1e-6);
});

Deno.test("alpha is 1 for perfect agreement, and not defined without pairs or without variation", () => {
  assertEquals(krippendorffAlpha([[1, 1], [0, 0], [0.5, 0.5]]), 1);
  assertEquals(krippendorffAlpha([[1], [0]]), null);
  assertEquals(krippendorffAlpha([]), null);
});

Deno.test("alpha is not defined if all values are the same, whatever their sum rounds to", () => {
  for (const value of [0.1, 0.3, 0.7, 0.9]) {
    const units = [[value, value, value], [value, value]];
    assertEquals(krippendorffAlpha(units), null, `${value}`);
  }
  assertEquals(krippendorffAlpha([[0.3, 0.1 + 0.2]]), null);
  assertEquals(krippendorffAlpha([[0.1, 0.1, 0.1], [0.2, 0.2, 0.2]]), 1);
});

import { assertAlmostEquals, assertEquals } from "@std/assert";
import { krippendorffAlpha, spearman } from "../../../eval/grades/statistics.ts";

/** Columns of a table whose rows are raters; `*` is missing. */
function units<T extends number | string>(rows: string[], parse: (cell: string) => T): T[][] {
  const cells = rows.map((row) => row.trim().split(/\s+/));
  return cells[0]!.map((_, unit) =>
    cells.flatMap((row) => row[unit] === "*" ? [] : [parse(row[unit]!)])
  );
}

const text = (cell: string) => cell;

/**
 * Worked examples of K. Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011,
 * https://repository.upenn.edu/asc_papers/43), which prints three digits; the fractions are those of
 * its coincidence matrices.
 */
const PUBLISHED: [name: string, found: number | null, fraction: number, printed: number][] = [
  [
    "A: binary, two observers",
    krippendorffAlpha(
      units(["0 1 0 0 0 0 0 0 1 0", "1 1 1 0 0 1 0 0 0 0"], Number),
      "nominal",
    ),
    1 - 19 * 4 / (14 * 6),
    0.095,
  ],
  [
    "B: nominal, two observers",
    krippendorffAlpha(
      units(["a a b b d c c c e d d a", "b a b b b c c c e d d d"], text),
      "nominal",
    ),
    (23 * (2 + 4 + 6 + 4 + 2) - (4 * 3 + 6 * 5 + 6 * 5 + 6 * 5 + 2 * 1)) /
    (24 * 23 - (4 * 3 + 6 * 5 + 6 * 5 + 6 * 5 + 2 * 1)),
    0.692,
  ],
  [
    "C: nominal, four observers, missing values",
    krippendorffAlpha(dataOfC(), "nominal"),
    1 - 39 * 4 / 608,
    0.743,
  ],
  [
    "D: interval, the same data",
    krippendorffAlpha(dataOfC(), "interval"),
    1 - 39 * (4 * 4 / 3 + 3 + 1 / 3) / 2240,
    0.849,
  ],
];

function dataOfC(): number[][] {
  return units([
    "1 2 3 3 2 1 4 1 2 * * *",
    "1 2 3 3 2 2 4 1 2 5 * 3",
    "* 3 3 3 2 3 4 2 2 5 1 *",
    "1 2 3 3 2 4 4 1 2 5 1 *",
  ], Number);
}

for (const [name, found, fraction, printed] of PUBLISHED) {
  Deno.test(`Krippendorff's alpha is that of his example ${name}`, () => {
    assertAlmostEquals(found!, fraction, 1e-6);
    assertEquals(Number(found!.toFixed(3)), printed);
  });
}

Deno.test("Krippendorff's alpha is that of the example in the documentation of fast-krippendorff", () => {
  // https://github.com/pln-fing-udelar/fast-krippendorff, README and sample.py.
  const data = units([
    "* * * * * 3 4 1 2 1 1 3 3 * 3",
    "1 * 2 1 3 3 4 3 * * * * * * *",
    "* * 2 1 3 4 4 * 2 1 1 3 3 * 4",
  ], Number);
  assertAlmostEquals(krippendorffAlpha(data, "nominal")!, 0.691358024691358, 1e-6);
  assertAlmostEquals(krippendorffAlpha(data, "interval")!, 0.8108448928121059, 1e-6);
});

Deno.test("alpha is 1 for perfect agreement, and not defined without pairs or without variation", () => {
  assertEquals(krippendorffAlpha([[1, 1], [0, 0], [0.5, 0.5]], "interval"), 1);
  assertEquals(krippendorffAlpha([[1], [0]], "interval"), null);
  assertEquals(krippendorffAlpha([], "nominal"), null);
  assertEquals(krippendorffAlpha([["a", "a"], ["a", "a"]], "nominal"), null);
});

Deno.test("alpha is not defined if all values are the same, whatever their sum rounds to", () => {
  for (const value of [0.1, 0.3, 0.7, 0.9]) {
    const units = [[value, value, value], [value, value]];
    assertEquals(krippendorffAlpha(units, "interval"), null, `${value}`);
  }
  assertEquals(krippendorffAlpha([[0.3, 0.1 + 0.2]], "interval"), null);
  assertEquals(krippendorffAlpha([[0.1, 0.1, 0.1], [0.2, 0.2, 0.2]], "interval"), 1);
});

Deno.test("values that differ by rounding alone are ties in Spearman's correlation", () => {
  const rounded = 0.1 + 0.2;
  assertEquals(spearman([[0.3, 1], [rounded, 2], [0.3, 3]]), null);
  assertEquals(
    spearman([[0.1, 1], [0.3, 2], [rounded, 2], [0.5, 3]]),
    spearman([[0.1, 1], [0.3, 2], [0.3, 2], [0.5, 3]]),
  );
});

Deno.test("Spearman's correlation is that of a worked example, also with ties", () => {
  // The example of the article "Spearman's rank correlation coefficient" in Wikipedia: -29/165.
  const iq = [106, 100, 86, 101, 99, 103, 97, 113, 112, 110];
  const hours = [7, 27, 2, 50, 28, 29, 20, 12, 6, 17];
  assertAlmostEquals(spearman(iq.map((value, index) => [value, hours[index]!]))!, -29 / 165, 1e-12);
  // Ranks 1, 2.5, 2.5, 4 and 1, 2, 3.5, 3.5: products 3.75, squares 4.5 each.
  assertAlmostEquals(spearman([[1, 1], [2, 2], [2, 3], [3, 3]])!, 3.75 / 4.5, 1e-12);
  assertEquals(spearman([[1, 1], [1, 2], [1, 3]]), null);
  assertEquals(spearman([[1, 1], [2, 2]]), null);
});

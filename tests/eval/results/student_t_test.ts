import { assertAlmostEquals } from "@std/assert";
import { studentT95 } from "../../../eval/results/student_t.ts";

/** The 0.975 quantiles as scipy.stats.t.ppf has them; the small ones are in every printed table. */
const QUANTILES: [degrees: number, t: number][] = [
  [1, 12.706204736174694],
  [2, 4.302652729749462],
  [3, 3.1824463052837078],
  [4, 2.7764451051977934],
  [5, 2.5705818356363146],
  [9, 2.262157162798205],
  [30, 2.0422724563012378],
  [99, 1.9842169515864172],
  [199, 1.9719565442517535],
  [200, 1.9718962236339093],
  [1000, 1.962339080826408],
  [9999, 1.960201263621357],
];

for (const [degrees, t] of QUANTILES) {
  Deno.test(`Student's t has its tabled 95 % bound at ${degrees} degrees of freedom`, () => {
    assertAlmostEquals(studentT95(degrees), t, 1e-10);
  });
}

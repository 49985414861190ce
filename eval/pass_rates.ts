import type { PassRates } from "../shared/schemas/evaluate.ts";
import { reaches } from "./passing.ts";

/**
 * How reliably a scenario is passed, from its attempts' `overall`. `pass_at_k` estimates the chance
 * that at least one of k attempts passes, `pass_hat_k` that all k do; both without bias, from every
 * choice of k among the attempts. An attempt without an `overall` does not take part.
 */
export function passRates(overall: (number | null)[], threshold: number): PassRates {
  const values = overall.filter((value) => value !== null);
  const attempts = values.length;
  const passed = values.filter((value) => reaches(value, threshold)).length;
  const pass_at_k: Record<string, number> = {};
  const pass_hat_k: Record<string, number> = {};
  let noneOf = 1; // C(n − c, k) / C(n, k), grown factor by factor: no factorial overflows
  let allOf = 1; // C(c, k) / C(n, k)
  for (let k = 1; k <= attempts; k++) {
    const left = attempts - k + 1;
    noneOf *= Math.max(0, attempts - passed - k + 1) / left;
    allOf *= Math.max(0, passed - k + 1) / left;
    pass_at_k[k] = 1 - noneOf;
    pass_hat_k[k] = allOf;
  }
  return {
    pass_threshold: threshold,
    pass_rate: attempts === 0 ? null : passed / attempts,
    pass_at_k,
    pass_hat_k,
  };
}

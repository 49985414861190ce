import { createRandom, DRAWN, EXACT_UP_TO, type TestOptions } from "./sign_flip.ts";
import { ROUNDING } from "../../schemas/rounding.ts";

const PIECE = 200;
/** The scores of one scenario's attempts in both runs. */
export interface Attempts {
  baseline: number[];
  candidate: number[];
}

/**
 * A permutation test that is exact for any numbers of attempts: if the models are equal, the
 * attempts of a scenario are interchangeable between the runs. Sign flips are not exact for unequal
 * numbers: the mean of ten attempts with a rare miss often differs a little from one attempt
 * without a miss, and seldom much in the other direction, so that the differences are not
 * symmetric.
 *
 * The attempts of a scenario are arranged in a circle, the baseline's first. The circle of each
 * scenario is rotated by some steps, and the attempts at the candidate's positions count as the
 * candidate's. Rotations form a group, which is sufficient for an exact test, and running sums make
 * one as cheap as a sign flip. With one attempt on one side they are all permutations; with one on
 * each side they are the sign flips. The p-value is the share of rotations whose difference is at
 * least as far from 0 as the real one.
 */
export async function shiftAttempts(
  scenarios: Attempts[],
  { seed, pause, draws = DRAWN }: TestOptions,
): Promise<number> {
  const { sizes, turned } = turnCircles(scenarios);
  const all = sizes.reduce((product, size) => product * size, 1);
  const isExact = all <= 2 ** EXACT_UP_TO;
  const count = isExact ? all : draws;
  const random = createRandom(seed);
  let least = 0;
  let asFar = 0;
  for (let position = 0; position < count; position++) {
    let difference = 0; // summed over scenarios
    let rest = position; // enumerates all rotations; the first is the real one
    let start = 0;
    for (const size of sizes) {
      const step = isExact
        ? rest % size
        : position === 0
        ? 0
        : Math.floor(random() / 2 ** 32 * size);
      rest = Math.floor(rest / size);
      difference += turned[start + step]!;
      start += size;
    }
    if (position === 0) least = Math.abs(difference) - ROUNDING * sizes.length;
    if (Math.abs(difference) >= least) asFar++;
    if (position % PIECE === 0) await pause();
  }
  return asFar / count;
}

/** The difference of the means for each rotation of each scenario's circle, in sequence. */
function turnCircles(scenarios: Attempts[]) {
  const sizes = scenarios.map(({ baseline, candidate }) => baseline.length + candidate.length);
  const turned = new Float64Array(sizes.reduce((sum, size) => sum + size, 0));
  let start = 0;
  for (const { baseline, candidate } of scenarios) {
    const values = [...baseline, ...candidate];
    const size = values.length;
    const sum = values.reduce((sum, value) => sum + value, 0);
    let inside = candidate.reduce((sum, value) => sum + value, 0);
    for (let step = 0; step < size; step++) {
      turned[start + step] = inside / candidate.length - (sum - inside) / baseline.length;
      inside += values[step]! - values[(baseline.length + step) % size]!;
    }
    start += size;
  }
  return { sizes, turned };
}

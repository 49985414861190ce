import { DRAWN, EXACT_UP_TO } from "./partitions.ts";
import { createRandom } from "./random.ts";
import type { TestOptions } from "./sign_flip.ts";
import { createSpans, type TestResult } from "./spans.ts";
import { LONG_ROUNDING } from "../../shared/rounding.ts";

const PIECE = 200;
/** One scenario's attempts in both runs: a score each. */
export interface Attempts {
  baseline: number[];
  candidate: number[];
}

/**
 * A permutation test that is exact for any numbers of attempts if the models are equal: then the
 * attempts of a scenario are interchangeable, whichever run made them. Sign flips are not enough
 * there. The mean of ten attempts with a rare miss differs little and often from one attempt
 * without, and seldom but much the other way round; a flipped sign would be another distribution.
 *
 * The attempts of a scenario are laid in a circle, the baseline's first, and each scenario's circle
 * is turned by some steps: those that come to lie on the candidate's places play its part. The turns
 * form a group, which is all that exactness takes, and running sums make one as cheap as a sign
 * flip. With one attempt on one side they are all permutations; with one on each they are the sign
 * flips.
 */
export async function shiftAttempts(
  scenarios: Attempts[],
  { seed, pause, draws = DRAWN }: TestOptions,
): Promise<TestResult> {
  const { sizes, turned, shift } = turnCircles(scenarios);
  const all = sizes.reduce((product, size) => product * size, 1);
  const isExact = all <= 2 ** EXACT_UP_TO;
  const count = isExact ? all : draws;
  const random = createRandom(seed);
  const spans = createSpans(count);
  let real = 0;
  for (let position = 0; position < count; position++) {
    let difference = 0; // summed over scenarios, and how much of a shift of the candidate is in it
    let left = 0;
    let rest = position; // counts through all of them; the first turns nothing
    let start = 0;
    for (const size of sizes) {
      const step = isExact
        ? rest % size
        : position === 0
        ? 0
        : Math.floor(random() / 2 ** 32 * size);
      rest = Math.floor(rest / size);
      difference += turned[start + step]!;
      left += shift[start + step]!;
      start += size;
    }
    if (position === 0) real = difference;
    const moved = sizes.length - left;
    const kept = sizes.length + left;
    // If none moved, or all, it is as far out as the real one whatever the shift.
    const isWhole = moved < LONG_ROUNDING || kept < LONG_ROUNDING;
    spans.add(
      isWhole ? NaN : (real - difference) / moved,
      isWhole ? NaN : (real + difference) / kept,
    );
    if (position % PIECE === 0) await pause();
  }
  return { ...spans.close(), isExact };
}

/**
 * For each turn of each scenario's circle, one circle after another: the difference of the means
 * that it gives, and how much of a shift of all the candidate's scores would be left in it (1 in the
 * real order).
 */
function turnCircles(scenarios: Attempts[]) {
  const sizes = scenarios.map(({ baseline, candidate }) => baseline.length + candidate.length);
  const total = sizes.reduce((sum, size) => sum + size, 0);
  const turned = new Float64Array(total);
  const shift = new Float64Array(total);
  let start = 0;
  for (const { baseline, candidate } of scenarios) {
    const values = [...baseline, ...candidate];
    const size = values.length;
    const sum = values.reduce((sum, value) => sum + value, 0);
    let inside = candidate.reduce((sum, value) => sum + value, 0);
    let own = candidate.length;
    for (let step = 0; step < size; step++) {
      turned[start + step] = inside / candidate.length - (sum - inside) / baseline.length;
      shift[start + step] = own / candidate.length - (candidate.length - own) / baseline.length;
      const leaving = (baseline.length + step) % size;
      inside += values[step]! - values[leaving]!;
      own += Number(step >= baseline.length) - Number(leaving >= baseline.length);
    }
    start += size;
  }
  return { sizes, turned, shift };
}

import { mean, sampleVariance } from "../../../eval/score/mean.ts";
import {
  type Interval,
  meanInterval,
  normalCdf,
  normalQuantile,
} from "../../../eval/figures/summary/mean_interval.ts";
import { createSampler } from "../../fakes/simulated_scores.ts";

/** An interval for the mean of scores in [0, 1], from those of five scenarios or more. */
type Candidate = (values: number[]) => Interval;

const RESAMPLES = 400;
const Z = normalQuantile(0.975);

/** Ours, and what it is compared with, which is cut at 0 and 1. */
export const CANDIDATES: Record<string, Candidate> = {
  ours: (values) => meanInterval(values)!,

  "ours at 93 %": (values) => meanInterval(values, values, { alpha: 0.07 })!,

  /** What was not seen is taken for the lowest and the highest value that were. */
  "ours, on the scale that was seen": (values) =>
    withUnseen(values, [Math.min(...values), Math.max(...values)]),

  /** Halfway between these and the ends of the scale. */
  "ours, on half of the rest of the scale": (values) =>
    withUnseen(values, [Math.min(...values) / 2, (1 + Math.max(...values)) / 2]),

  "Student's t": (values) => around(mean(values)!, studentHalf(values)),

  /** With one further observation at each end of the scale, as Agresti and Coull add them. */
  "Student's t, 0 and 1 added": (values) => {
    const more = [...values, 0, 1];
    return around(mean(more)!, studentHalf(more));
  },

  "Johnson's t": (values) => {
    const half = studentHalf(values);
    const shift = skewness(values) * Math.sqrt(sampleVariance(values)!) / (6 * values.length);
    return around(mean(values)! + shift * (1 + 2 * studentQuantile(values.length - 1) ** 2), half);
  },

  /** As if the mean were a share of passes: no other score in [0, 1] spreads more. */
  "Wilson": (values) => {
    const [m, n] = [mean(values)!, values.length];
    const shrink = 1 + Z * Z / n;
    return around(
      (m + Z * Z / (2 * n)) / shrink,
      Z / shrink * Math.sqrt(m * (1 - m) / n + (Z / (2 * n)) ** 2),
    );
  },

  /** Maurer and Pontil (2009). */
  "empirical Bernstein": (values) => {
    const log = Math.log(4 / 0.05);
    const n = values.length;
    const half = Math.sqrt(2 * log * sampleVariance(values)! / n) + 7 * log / (3 * (n - 1));
    return around(mean(values)!, half);
  },

  "bootstrap, BCa": (values) => {
    const found = resample(values).map(({ centre }) => centre).sort((a, b) => a - b);
    const m = mean(values)!;
    const below = found.filter((centre) => centre < m).length;
    const equal = found.filter((centre) => centre === m).length;
    const share = (below + equal / 2) / RESAMPLES;
    const bias = normalQuantile(Math.min(0.999, Math.max(0.001, share)));
    const acceleration = skewness(values) / (6 * Math.sqrt(values.length));
    const place = (z: number) => {
      const moved = bias + (bias + z) / (1 - acceleration * (bias + z));
      return found[Math.min(RESAMPLES - 1, Math.floor(normalCdf(moved) * RESAMPLES))]!;
    };
    return [place(-Z), place(Z)];
  },

  "bootstrap-t": (values) => {
    const m = mean(values)!;
    const found = resample(values).map(({ centre, stderr }) => {
      if (stderr < 1e-12) return Math.sign(Math.round((centre - m) * 1e12)) * 1e6;
      return (centre - m) / stderr;
    }).sort((a, b) => a - b);
    const at = (share: number) => found[Math.floor(share * (RESAMPLES - 1))]!;
    const stderr = stderrOf(values);
    return cut([m - at(0.975) * stderr, m - at(0.025) * stderr]);
  },
};

/** Ours on a shorter scale, and no narrower than if all values were the mean. */
function withUnseen(values: number[], scale: Interval): Interval {
  const [low, high] = meanInterval(values, values, { scale })!;
  const share = 0.025 ** (1 / values.length);
  const m = mean(values)!;
  return [Math.min(low, share * m), Math.max(high, 1 - share * (1 - m))];
}

function resample(values: number[]) {
  const { uniform } = createSampler(1);
  return Array.from({ length: RESAMPLES }, () => {
    const drawn = values.map(() => values[Math.floor(uniform() * values.length)]!);
    return { centre: mean(drawn)!, stderr: stderrOf(drawn) };
  });
}

function stderrOf(values: number[]): number {
  return Math.sqrt(sampleVariance(values)! / values.length);
}

function studentHalf(values: number[]): number {
  return studentQuantile(values.length - 1) * stderrOf(values);
}

/** Cornish and Fisher's expansion of Student's t: 2.5 % lie above it. */
function studentQuantile(degrees: number): number {
  const [z3, z5] = [Z ** 3, Z ** 5];
  return Z + (z3 + Z) / (4 * degrees) + (5 * z5 + 16 * z3 + 3 * Z) / (96 * degrees ** 2) +
    (3 * Z ** 7 + 19 * z5 + 17 * z3 - 15 * Z) / (384 * degrees ** 3);
}

/** 0 if all values are equal. */
function skewness(values: number[]): number {
  const m = mean(values)!;
  const moment = (power: number) => mean(values.map((value) => (value - m) ** power))!;
  return moment(2) < 1e-12 ? 0 : moment(3) / moment(2) ** 1.5;
}

function around(centre: number, half: number): Interval {
  return cut([centre - half, centre + half]);
}

function cut([low, high]: Interval): Interval {
  return [Math.max(0, low), Math.min(1, high)];
}

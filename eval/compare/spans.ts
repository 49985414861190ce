import { ROUNDING } from "../../shared/rounding.ts";

/** The level of the test, and what is left of 1 in the interval. */
export const ALPHA = 0.05;

/** What a permutation test says of the mean difference. */
export interface TestResult {
  /** Two-sided: how often a difference as large would come up if neither side were better. */
  p: number;
  /** 95 %; `null` if the values are too few to exclude anything. */
  interval: [number, number] | null;
  /** Whether every rearrangement was tried, not a sample of them. */
  isExact: boolean;
}

/** Collects what each rearrangement of the data says. */
export interface Spans {
  /**
   * The rearranged difference is at least as far from 0 as the real one exactly for the shifts δ
   * from one value to the other; NaN or infinite means for every shift.
   */
  add(one: number, other: number): void;
  close(): Omit<TestResult, "isExact">;
}

/**
 * A permutation test and its interval in one pass. If the candidate were shifted by δ, each
 * rearrangement would give a difference that is linear in δ, so the shifts for which it is as far
 * out as the real one form a span with known ends (for sign flips: J. Hartigan's "typical values",
 * 1969). `p` is the share of spans that hold 0, and the interval holds the shifts that lie in more
 * than 5 % of the spans: test and interval never disagree. Every span holds the mean difference
 * itself, so the interval's ends are order statistics of the spans' ends.
 */
export function createSpans(count: number): Spans {
  const lower = new Float64Array(count);
  const upper = new Float64Array(count);
  let filled = 0;
  let holdZero = 0;
  return {
    add(one, other) {
      const isBounded = Number.isFinite(one) && Number.isFinite(other);
      const low = isBounded ? snap(Math.min(one, other)) : -Infinity;
      const high = isBounded ? snap(Math.max(one, other)) : Infinity;
      if (low <= 0 && high >= 0) holdZero++;
      lower[filled] = low;
      upper[filled++] = high;
    },
    close() {
      lower.sort();
      upper.sort();
      const outside = Math.floor(ALPHA * count);
      const low = lower[outside]!;
      const high = upper[count - 1 - outside]!;
      return {
        p: holdZero / count,
        // Scores lie in [0, 1], so no difference lies beyond 1.
        interval: Number.isFinite(low) ? [Math.max(-1, low), Math.min(1, high)] : null,
      };
    },
  };
}

function snap(value: number): number {
  return Math.abs(value) <= ROUNDING ? 0 : value;
}

import { differenceText } from "../words.ts";
import { Chart, HEIGHT, type Interval } from "./interval.tsx";

/** A difference around 0 with its interval; `reach` is the end of the scale on both sides. */
export function DifferenceChart({ mean, ci95, reach }: {
  mean: number;
  ci95: Interval | null;
  reach: number;
}) {
  const interval = ci95
    ? `95% interval ${differenceText(ci95[0])} to ${differenceText(ci95[1])}`
    : "too few scenarios for an interval";
  const label = `${differenceText(mean)}, ${interval}`;
  return (
    <Chart label={label} mean={mean} ci95={ci95} at={(value) => 50 + value / reach * 50}>
      <line class="zero" x1="50%" x2="50%" y1={1} y2={HEIGHT - 1} />
    </Chart>
  );
}

/** The end of a scale that has room for all of some differences and their intervals. */
export function reachOf(ends: (number | null)[], least = 0.05): number {
  return Math.max(least, ...ends.map((end) => Math.abs(end ?? 0)));
}

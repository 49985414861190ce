import type { ComponentChildren } from "preact";
import type { Statistic } from "../../test/statistics.ts";
import { formatScore } from "../../../shared/pages/format.ts";
import { intervalText } from "../words.ts";

export type Interval = readonly [number, number];

export const HEIGHT = 16;
const MIDDLE = HEIGHT / 2;

/** An interval as a bar with its mean, as wide as its place; `at` says where a value is, in percent. */
export function Chart({ label, mean, ci95, at, children }: {
  label: string;
  mean: number;
  ci95: Interval | null;
  at: (value: number) => number;
  /** Beneath the interval. */
  children?: ComponentChildren;
}) {
  return (
    <svg class="interval" height={HEIGHT} role="img" aria-label={label}>
      <title>{label}</title>
      <line class="axis" x1="0%" x2="100%" y1={MIDDLE} y2={MIDDLE} />
      {children}
      {ci95 && (
        <rect
          class="span"
          x={`${at(ci95[0])}%`}
          width={`${Math.max(1, at(ci95[1]) - at(ci95[0]))}%`}
          y={MIDDLE - 3}
          height={6}
          rx={3}
        />
      )}
      <circle class="mean" cx={`${at(mean)}%`} cy={MIDDLE} r={3.5} />
    </svg>
  );
}

/** A mean on a scale from 0 to 1 with its interval. */
export function IntervalChart({ statistic }: {
  statistic: Pick<Statistic, "mean" | "ci95">;
}) {
  const { mean, ci95 } = statistic;
  if (mean === null) return <span class="muted">–</span>;
  const at = (value: number) => value * 100;
  const label = `mean ${formatScore(mean)}` +
    (ci95 ? `, 95% interval ${intervalText(ci95)}` : "");
  return <Chart label={label} mean={mean} ci95={ci95} at={at} />;
}

import type { Statistic } from "../../schemas/statistics.ts";
import { formatScore } from "../../../shared/pages/format.ts";
import { intervalText } from "../words.ts";

type Shown =
  & Pick<Statistic, "mean" | "ci95">
  & Partial<Pick<Statistic, "mean_of_answered" | "bounds">>;

const HEIGHT = 16;
const MIDDLE = HEIGHT / 2;
const percent = (value: number) => `${value * 100}%`;

/**
 * A mean on a scale from 0 to 1, as wide as its place: its interval as a bar, and beneath it what
 * outages and missing values leave open.
 */
export function IntervalChart({ statistic }: { statistic: Shown }) {
  const { mean, ci95, mean_of_answered, bounds } = statistic;
  if (mean === null) return <span class="muted">–</span>;
  const open = bounds ??
    (typeof mean_of_answered === "number" && mean_of_answered > mean
      ? [mean, mean_of_answered] as const
      : undefined);
  const label = describe(statistic);
  return (
    <svg class="interval" height={HEIGHT} role="img" aria-label={label}>
      <title>{label}</title>
      <line class="axis" x1="0%" x2="100%" y1={MIDDLE} y2={MIDDLE} />
      {open && (
        <rect
          class="open"
          x={percent(open[0])}
          width={percent(open[1] - open[0])}
          y={2}
          height={12}
        />
      )}
      {ci95 && (
        <rect
          class="span"
          x={percent(ci95[0])}
          width={percent(Math.max(0.01, ci95[1] - ci95[0]))}
          y={MIDDLE - 3}
          height={6}
          rx={3}
        />
      )}
      <circle class="mean" cx={percent(mean)} cy={MIDDLE} r={3.5} />
    </svg>
  );
}

function describe({ mean, ci95, mean_of_answered, bounds }: Shown): string {
  const parts = [`mean ${formatScore(mean)}`];
  if (ci95) parts.push(`95% interval ${intervalText(ci95)}`);
  if (bounds) parts.push(`with missing values ${intervalText(bounds)}`);
  else if (typeof mean_of_answered === "number" && mean !== null && mean_of_answered > mean) {
    parts.push(`of answered turns ${formatScore(mean_of_answered)}`);
  }
  return parts.join(", ");
}

import type { Statistic } from "../../schemas/statistics.ts";
import { intervalText, meanText } from "../words.ts";

type Shown = Pick<Statistic, "mean" | "bounds" | "ci95">;

const HEIGHT = 16;
const MIDDLE = HEIGHT / 2;
const percent = (value: number) => `${value * 100}%`;

/**
 * A mean on a scale from 0 to 1, as wide as its place: its interval as a bar, and beneath it what
 * missing values leave open.
 */
export function IntervalChart({ statistic }: { statistic: Shown }) {
  const { mean, ci95, bounds: open } = statistic;
  if (mean === null && !open) return <span class="muted">–</span>;
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
      {mean !== null && <circle class="mean" cx={percent(mean)} cy={MIDDLE} r={3.5} />}
    </svg>
  );
}

function describe({ ci95, ...mean }: Shown): string {
  return `mean ${meanText(mean)}` + (ci95 ? `, 95% interval ${intervalText(ci95)}` : "");
}

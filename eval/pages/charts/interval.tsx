import type { Statistic } from "../../../shared/schemas/evaluate.ts";
import { formatScore } from "../../../shared/pages/format.ts";
import { intervalText } from "../words.ts";

type Shown =
  & Pick<Statistic, "mean" | "ci95">
  & Partial<Pick<Statistic, "mean_of_answered" | "bounds">>;

const HEIGHT = 16;
const MIDDLE = HEIGHT / 2;

/**
 * A mean on a scale from 0 to 1: its interval as a bar, and beneath it what outages and missing
 * values leave open.
 */
export function IntervalChart({ statistic, width = 120 }: { statistic: Shown; width?: number }) {
  const { mean, ci95, mean_of_answered, bounds } = statistic;
  if (mean === null) return <span class="muted">–</span>;
  const at = (value: number) => 4 + value * (width - 8);
  const open = bounds ??
    (typeof mean_of_answered === "number" && mean_of_answered > mean
      ? [mean, mean_of_answered] as const
      : undefined);
  return (
    <svg
      class="interval"
      width={width}
      height={HEIGHT}
      viewBox={`0 0 ${width} ${HEIGHT}`}
      role="img"
      aria-label={describe(statistic)}
    >
      <line class="axis" x1={at(0)} x2={at(1)} y1={MIDDLE} y2={MIDDLE} />
      {open && (
        <rect class="open" x={at(open[0])} y={2} width={at(open[1]) - at(open[0])} height={12} />
      )}
      {ci95 && (
        <rect
          class="span"
          x={at(ci95[0])}
          y={MIDDLE - 3}
          width={Math.max(1, at(ci95[1]) - at(ci95[0]))}
          height={6}
          rx={3}
        />
      )}
      <circle class="mean" cx={at(mean)} cy={MIDDLE} r={3.5} />
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

import { differenceText } from "../words.ts";

const HEIGHT = 16;
const MIDDLE = HEIGHT / 2;

/** A difference around 0 with its interval; `reach` is the end of the scale on both sides. */
export function DifferenceChart({ mean, ci95, reach }: {
  /** `null` if it is not known. */
  mean: number | null;
  ci95: readonly [number, number] | null;
  reach: number;
}) {
  const at = (value: number) => 50 + value / reach * 50;
  const label = `${mean === null ? "not known" : differenceText(mean)}, ${
    ci95
      ? `95% interval ${differenceText(ci95[0])} to ${differenceText(ci95[1])}`
      : "too few scenarios for an interval"
  }`;
  return (
    <svg class="interval" height={HEIGHT} role="img" aria-label={label}>
      <title>{label}</title>
      <line class="axis" x1="0%" x2="100%" y1={MIDDLE} y2={MIDDLE} />
      <line class="zero" x1="50%" x2="50%" y1={1} y2={HEIGHT - 1} />
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
      {mean !== null && <circle class="mean" cx={`${at(mean)}%`} cy={MIDDLE} r={3.5} />}
    </svg>
  );
}

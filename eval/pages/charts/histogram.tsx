import { tip } from "../../../shared/pages/components/tip.tsx";
import { formatCount, formatNumberOf, formatScore } from "../../../shared/pages/format.ts";

const WIDTH = 520;
const HEIGHT = 200;
/** The room left of the bars; more if the counts are long. */
const LEFT = 40;
/** The width of a digit, in the units of the chart. */
const DIGIT = 8;
const BOTTOM = 28;
const TOP = 8;

/** How many turns fall into each band of a score, with the threshold as a line. */
export function Histogram({ bins, threshold, label }: {
  bins: number[];
  threshold?: number | undefined;
  label: string;
}) {
  const counts = countTicks(Math.max(1, ...bins));
  const top = counts.at(-1)!;
  const left = Math.max(LEFT, formatCount(top).length * DIGIT + 8);
  const plot = WIDTH - left - 16;
  const x = (value: number) => left + value * plot;
  const y = (count: number) => TOP + (1 - count / top) * (HEIGHT - BOTTOM - TOP);
  const band = (index: number) =>
    `${formatScore(index / bins.length)} to ${formatScore((index + 1) / bins.length)}`;
  return (
    <figure>
      <svg class="chart" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="group" aria-label={label}>
        {counts.map((count) => (
          <g key={count}>
            <line class="grid" x1={left} x2={WIDTH - 16} y1={y(count)} y2={y(count)} />
            <text class="tick end" x={left - 8} y={y(count) + 4}>{formatCount(count)}</text>
          </g>
        ))}
        {bins.map((count, index) =>
          count > 0 && (
            <rect
              key={index}
              class="bar"
              x={x(index / bins.length) + 1}
              width={plot / bins.length - 2}
              y={Math.min(y(count), y(0) - 1)}
              height={Math.max(1, y(0) - y(count))}
              rx={2}
              tabIndex={0}
              role="img"
              aria-label={`${band(index)}: ${formatCount(count)}`}
              {...tip(`${band(index)}: ${formatNumberOf(count, "turn")}`)}
            />
          )
        )}
        {threshold !== undefined && (
          <g class="threshold">
            <line x1={x(threshold)} x2={x(threshold)} y1={TOP} y2={y(0)} />
            <text x={x(threshold) - 4} y={TOP + 10}>{`pass ${formatScore(threshold)}`}</text>
          </g>
        )}
        {[0, 0.25, 0.5, 0.75, 1].map((value) => (
          <text key={value} class="tick middle" x={x(value)} y={HEIGHT - 8}>
            {formatScore(value)}
          </text>
        ))}
      </svg>
      <details class="as-table">
        <summary>Show as table</summary>
        <div class="table-frame short" role="region" aria-label={label} tabIndex={0}>
          <table>
            <thead>
              <tr>
                <th scope="col">Score</th>
                <th scope="col" class="number">Turns</th>
              </tr>
            </thead>
            <tbody>
              {bins.map((count, index) => (
                <tr key={index}>
                  <td>{band(index)}</td>
                  <td class="number">{formatCount(count)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </details>
    </figure>
  );
}

/** Whole numbers from 0 to `highest` or a little more, in at most four steps of 1, 2 or 5 times a power of ten. */
export function countTicks(highest: number): number[] {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, highest / 4)));
  const step = [1, 2, 5, 10].find((step) => step * power * 4 >= highest)! * power;
  return Array.from({ length: Math.ceil(highest / step) + 1 }, (_, index) => index * step);
}

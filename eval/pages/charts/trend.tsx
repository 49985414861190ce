import { formatAge, formatScore } from "../../../shared/pages/format.ts";
import type { ListedRun } from "../../api/run_schemas.ts";
import { intervalText, meanText } from "../words.ts";

const WIDE = 1200;
const NARROW = 600;
const SHORT = 320;
/** So many runs can be told apart on a narrow screen; more of them scroll. */
const SHORT_RUNS = 12;
const HEIGHT = 180;
const LEFT = 40;
const BOTTOM = 24;

/** The headline of each run of one test, oldest first, with its interval. */
export function Trend({ runs, score = "overall" }: { runs: ListedRun[]; score?: string }) {
  const points = runs.flatMap((run) => {
    const statistic = run.headline?.scores[score];
    // Of a mean that is not known, the lower bound is drawn, and the interval holds both.
    const mean = statistic?.bounds?.[0] ?? statistic?.mean;
    if (typeof mean !== "number") return [];
    return [{ run, mean, text: meanText(statistic), ci95: statistic!.ci95 }];
  });
  if (points.length < 2) {
    return <p class="muted small">A trend needs two runs of this test that have ended.</p>;
  }
  const isShort = globalThis.innerWidth < NARROW && points.length <= SHORT_RUNS;
  // so that its text can be read
  const width = isShort ? SHORT : globalThis.innerWidth < NARROW ? NARROW : WIDE;
  const x = (index: number) => LEFT + 12 + index / (points.length - 1) * (width - LEFT - 32);
  const y = (value: number) => 8 + (1 - value) * (HEIGHT - BOTTOM - 8);
  const [first, last] = [points[0]!, points.at(-1)!];
  const label = `${points.length} runs, from ${first.text} to ${last.text}`;
  return (
    <svg
      class={isShort ? "chart" : "chart trend"}
      viewBox={`0 0 ${width} ${HEIGHT}`}
      role="group"
      aria-label={label}
    >
      {[0, 0.5, 1].map((value) => (
        <g key={value}>
          <line class="grid" x1={LEFT} x2={width - 8} y1={y(value)} y2={y(value)} />
          <text class="tick end" x={LEFT - 8} y={y(value) + 4}>{formatScore(value, 1)}</text>
        </g>
      ))}
      <polyline
        class="line"
        points={points.map(({ mean }, i) => `${x(i)},${y(mean)}`).join(" ")}
      />
      {points.map(({ run, mean, text, ci95 }, index) => (
        <a
          key={run.run_id}
          href={`/ui/runs/${run.run_id}`}
          aria-label={`${run.model_id}, ${formatAge(run.created_at)}: ${text}`}
        >
          <title>
            {`${run.model_id}, ${formatAge(run.created_at)}: ${text}` +
              (ci95 ? ` (${intervalText(ci95)})` : "")}
          </title>
          {ci95 && (
            <line class="whisker" x1={x(index)} x2={x(index)} y1={y(ci95[0])} y2={y(ci95[1])} />
          )}
          <circle class="target" cx={x(index)} cy={y(mean)} r={12} />
          <circle class="dot" cx={x(index)} cy={y(mean)} r={4} />
        </a>
      ))}
      <text class="tick" x={LEFT + 4} y={HEIGHT - 6}>{formatAge(first.run.created_at)}</text>
      <text class="tick end" x={width - 8} y={HEIGHT - 6}>{formatAge(last.run.created_at)}</text>
    </svg>
  );
}

import { tip } from "../../../shared/pages/components/tip.tsx";
import { formatCount, formatNumberOf, formatScore } from "../../../shared/pages/format.ts";
import type { PairedScenarioRow } from "../../compare/pair_lists.ts";
import { differenceText } from "../words.ts";

const SIZE = 360;
const LEFT = 44;
const BOTTOM = 40;

/** Every scenario: its score in the baseline against its score in the candidate. */
export function Scatter({ scenarios }: { scenarios: PairedScenarioRow[] }) {
  const plot = SIZE - LEFT - 12;
  const x = (value: number) => LEFT + value * plot;
  const y = (value: number) => 12 + (1 - value) * (SIZE - BOTTOM - 12);
  const better = scenarios.filter(({ difference }) => difference > 1e-9).length;
  const worse = scenarios.filter(({ difference }) => difference < -1e-9).length;
  const label = `${
    formatNumberOf(scenarios.length, "scenario")
  }: ${better} better, ${worse} worse in the candidate`;
  return (
    <figure>
      <svg class="chart scatter" viewBox={`0 0 ${SIZE} ${SIZE}`} role="img" aria-label={label}>
        {[0, 0.25, 0.5, 0.75, 1].map((value) => (
          <g key={value}>
            <line class="grid" x1={x(0)} x2={x(1)} y1={y(value)} y2={y(value)} />
            <line class="grid" x1={x(value)} x2={x(value)} y1={y(0)} y2={y(1)} />
            <text class="tick end" x={LEFT - 6} y={y(value) + 4}>{formatScore(value)}</text>
            <text class="tick middle" x={x(value)} y={SIZE - BOTTOM + 16}>
              {formatScore(value)}
            </text>
          </g>
        ))}
        <line class="same" x1={x(0)} y1={y(0)} x2={x(1)} y2={y(1)} />
        {scenarios.map(({ scenario_id, baseline, candidate, difference }, index) => (
          <circle
            key={index}
            class={difference > 1e-9 ? "dot better" : difference < -1e-9 ? "dot worse" : "dot"}
            cx={x(baseline.mean)}
            cy={y(candidate.mean)}
            r={scenarios.length > 500 ? 2.5 : 4}
            {...tip(
              `${scenario_id}: ${formatScore(baseline.mean)} → ${formatScore(candidate.mean)} ` +
                `(${differenceText(difference)})`,
            )}
          />
        ))}
        <text class="tick middle" x={x(0.5)} y={SIZE - 6}>Baseline</text>
        <text class="tick middle" transform={`translate(10 ${y(0.5)}) rotate(-90)`}>Candidate</text>
      </svg>
      <figcaption class="legend">
        <span>
          <i class="key better" />better in the candidate: {formatCount(better)}
        </span>
        <span>
          <i class="key worse" />worse: {formatCount(worse)}
        </span>
        <span>
          <i class="key same" />same: {formatCount(scenarios.length - better - worse)}
        </span>
      </figcaption>
    </figure>
  );
}

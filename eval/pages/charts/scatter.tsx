import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { tip } from "../../../shared/pages/components/tip.tsx";
import { formatCount, formatNumberOf, formatScore } from "../../../shared/pages/format.ts";
import type { PairedScenarioRow } from "../../figures/pair_lists.ts";
import { differenceText } from "../words.ts";

const SIZE = 360;
const LEFT = 44;
const BOTTOM = 40;

/** Both axes fit the data in fifths, and are alike, so that the line of the same score is straight. */
function rangeOf(scenarios: PairedScenarioRow[]): [low: number, high: number] {
  let [least, most] = [1, 0];
  for (const { baseline, candidate } of scenarios) {
    least = Math.min(least, baseline.mean, candidate.mean);
    most = Math.max(most, baseline.mean, candidate.mean);
  }
  const high = Math.max(0.2, Math.min(1, Math.ceil(most * 5) / 5));
  return [Math.max(0, Math.min(high - 0.2, Math.floor(least * 5) / 5)), high];
}

/** Every scenario: its score in the baseline against its score in the candidate. */
export function Scatter({ scenarios }: { scenarios: PairedScenarioRow[] }) {
  const active = useSignal(0);
  const dots = useRef<SVGGElement>(null);
  const [low, high] = rangeOf(scenarios);
  const plot = SIZE - LEFT - 12;
  const shareOf = (value: number) => (value - low) / (high - low);
  const x = (value: number) => LEFT + shareOf(value) * plot;
  const y = (value: number) => 12 + (1 - shareOf(value)) * (SIZE - BOTTOM - 12);
  /** One dot is in the order of Tab; the arrow keys go from dot to dot. */
  function move(event: KeyboardEvent): void {
    const steps: Record<string, number> = {
      ArrowRight: 1,
      ArrowUp: 1,
      ArrowLeft: -1,
      ArrowDown: -1,
    };
    const step = steps[event.key];
    if (!step) return;
    event.preventDefault();
    active.value = (active.value + step + scenarios.length) % scenarios.length;
    (dots.current?.children[active.value] as SVGElement | undefined)?.focus();
  }
  const better = scenarios.filter(({ difference }) => difference > 1e-9).length;
  const worse = scenarios.filter(({ difference }) => difference < -1e-9).length;
  const label = `${
    formatNumberOf(scenarios.length, "scenario")
  }: ${better} better, ${worse} worse in the candidate`;
  return (
    <figure>
      <svg class="chart scatter" viewBox={`0 0 ${SIZE} ${SIZE}`} role="group" aria-label={label}>
        {[0, 0.25, 0.5, 0.75, 1].map((share) => low + share * (high - low)).map((value) => (
          <g key={value}>
            <line class="grid" x1={x(low)} x2={x(high)} y1={y(value)} y2={y(value)} />
            <line class="grid" x1={x(value)} x2={x(value)} y1={y(low)} y2={y(high)} />
            <text class="tick end" x={LEFT - 6} y={y(value) + 4}>{formatScore(value)}</text>
            <text class="tick middle" x={x(value)} y={SIZE - BOTTOM + 16}>
              {formatScore(value)}
            </text>
          </g>
        ))}
        <line class="same" x1={x(low)} y1={y(low)} x2={x(high)} y2={y(high)} />
        <g ref={dots} onKeyDown={move}>
          {scenarios.map(({ scenario_id, baseline, candidate, difference }, index) => {
            const text = `${scenario_id}: ${formatScore(baseline.mean)} → ` +
              `${formatScore(candidate.mean)} (${differenceText(difference)})`;
            return (
              <circle
                key={index}
                role="img"
                aria-label={text}
                tabIndex={index === active.value ? 0 : -1}
                class={difference > 1e-9 ? "dot better" : difference < -1e-9 ? "dot worse" : "dot"}
                cx={x(baseline.mean)}
                cy={y(candidate.mean)}
                r={scenarios.length > 500 ? 2.5 : 4}
                {...tip(text)}
              />
            );
          })}
        </g>
        <text class="tick middle" x={x((low + high) / 2)} y={SIZE - 6}>Baseline</text>
        <text class="tick middle" transform={`translate(10 ${y((low + high) / 2)}) rotate(-90)`}>
          Candidate
        </text>
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

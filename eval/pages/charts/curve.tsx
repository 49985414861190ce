import { tip } from "../../../shared/pages/components/tip.tsx";
import { formatScore } from "../../../shared/pages/format.ts";
import { Explained } from "../glossary.tsx";

const WIDTH = 520;
const HEIGHT = 180;
const LEFT = 44;
const BOTTOM = 28;

interface Rates {
  [k: string]: { mean: number };
}

/** The chance that at least one of k attempts passes, and that all of them do. */
export function PassCurves({ atK, hatK }: { atK: Rates; hatK: Rates }) {
  const ks = Object.keys(atK).map(Number).sort((a, b) => a - b);
  const most = Math.max(2, ks.at(-1) ?? 2);
  const x = (k: number) => LEFT + (k - 1) / (most - 1) * (WIDTH - LEFT - 16);
  const y = (rate: number) => 8 + (1 - rate) * (HEIGHT - BOTTOM - 8);
  const line = (rates: Rates) => ks.map((k) => `${x(k)},${y(rates[k]!.mean)}`).join(" ");
  const shownKs = ks.length <= 10 ? ks : [1, Math.round(most / 2), most];
  const label = `Of ${most} attempts: at least one passes ${formatScore(atK[most]?.mean)}, ` +
    `all pass ${formatScore(hatK[most]?.mean)}`;
  return (
    <figure>
      <svg class="chart curves" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="group" aria-label={label}>
        {[0, 0.5, 1].map((rate) => (
          <g key={rate}>
            <line class="grid" x1={LEFT} x2={WIDTH - 16} y1={y(rate)} y2={y(rate)} />
            <text class="tick end" x={LEFT - 8} y={y(rate) + 4}>{`${rate * 100}%`}</text>
          </g>
        ))}
        <polyline class="line" points={line(atK)} />
        <polyline class="line dashed" points={line(hatK)} />
        {ks.length <= 20 && ks.map((k) => (
          <g key={k}>
            <Dot
              at={[x(k), y(atK[k]!.mean)]}
              text={`at least once in ${k}: ${formatScore(atK[k]!.mean)}`}
            />
            <Dot
              at={[x(k), y(hatK[k]!.mean)]}
              text={`every time in ${k}: ${formatScore(hatK[k]!.mean)}`}
              isHollow
            />
          </g>
        ))}
        {shownKs.map((k) => <text key={k} class="tick middle" x={x(k)} y={HEIGHT - 8}>{k}</text>)}
      </svg>
      <figcaption class="legend">
        <span>
          <svg width="20" height="8" aria-hidden="true">
            <line class="line" x2="20" y1="4" y2="4" />
          </svg>
          <span>
            at least once (<Explained text="pass@k" />)
          </span>
        </span>
        <span>
          <svg width="20" height="8" aria-hidden="true">
            <line class="line dashed" x2="20" y1="4" y2="4" />
          </svg>
          <span>
            every time (<Explained text="pass^k" />)
          </span>
        </span>
      </figcaption>
    </figure>
  );
}

function Dot({ at: [cx, cy], text, isHollow }: {
  at: [number, number];
  text: string;
  isHollow?: boolean;
}) {
  return (
    <g tabIndex={0} role="img" aria-label={text} {...tip(text)}>
      <circle class="target" cx={cx} cy={cy} r={12} />
      <circle class={isHollow ? "dot hollow" : "dot"} cx={cx} cy={cy} r={3} />
    </g>
  );
}

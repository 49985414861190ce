import { formatScore } from "../../../shared/pages/format.ts";
import type { ScoreComparison } from "../../compare/comparison.ts";
import { differenceText, scoreLabel, type Tone } from "../words.ts";

const TONES: Record<ScoreComparison["verdict"], Tone> = {
  improved: "good",
  regressed: "bad",
  inconclusive: "",
};

const WIDTH = 120;

/** A row per score: both means, the difference with its interval, and what it is worth. */
export function ScoreRows({ scores, chosen, onChoose }: {
  scores: Record<string, ScoreComparison>;
  chosen: string;
  onChoose: (name: string) => void;
}) {
  const names = Object.keys(scores).toSorted((a, b) =>
    Number(b === "overall") - Number(a === "overall")
  );
  const reach = Math.max(
    0.05,
    ...Object.values(scores).flatMap(({ ci95, difference }) =>
      [difference, ...ci95 ?? []].map(Math.abs)
    ),
  );
  return (
    <div class="table-frame flat" role="region" aria-label="Scores" tabIndex={0}>
      <table>
        <thead>
          <tr>
            <th scope="col">Score</th>
            <th scope="col" class="number">Baseline</th>
            <th scope="col" class="number">Candidate</th>
            <th scope="col" class="number">Difference</th>
            <th scope="col">95% interval</th>
            <th scope="col" class="number">Adjusted p</th>
            <th scope="col">Verdict</th>
          </tr>
        </thead>
        <tbody>
          {names.map((name) => {
            const row = scores[name]!;
            return (
              <tr key={name} class={name === chosen ? "chosen" : ""}>
                <th scope="row">
                  <button
                    type="button"
                    class="plain-link"
                    aria-pressed={name === chosen}
                    onClick={() => onChoose(name)}
                  >
                    {scoreLabel(name)}
                  </button>
                </th>
                <td class="number">{formatScore(row.baseline)}</td>
                <td class="number">{formatScore(row.candidate)}</td>
                <td class="number">{differenceText(row.difference)}</td>
                <td>
                  <DifferenceChart score={row} reach={reach} />
                </td>
                <td class="number">{formatScore(row.p_adjusted, 3)}</td>
                <td>
                  <span class={`badge ${TONES[row.verdict]}`} title={row.reason ?? ""}>
                    {row.verdict}
                  </span>
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

/** A difference around 0, on a scale that all rows share. */
function DifferenceChart({ score: { difference, ci95 }, reach }: {
  score: ScoreComparison;
  reach: number;
}) {
  const at = (value: number) => WIDTH / 2 + value / reach * (WIDTH / 2 - 6);
  const label = ci95
    ? `${differenceText(ci95[0])} to ${differenceText(ci95[1])}`
    : "too few scenarios for an interval";
  return (
    <svg
      class="interval"
      width={WIDTH}
      height={16}
      viewBox={`0 0 ${WIDTH} 16`}
      role="img"
      aria-label={label}
    >
      <title>{label}</title>
      <line class="axis" x1={4} x2={WIDTH - 4} y1={8} y2={8} />
      <line class="zero" x1={at(0)} x2={at(0)} y1={1} y2={15} />
      {ci95 && (
        <rect
          class="span"
          x={at(ci95[0])}
          y={5}
          width={Math.max(1, at(ci95[1]) - at(ci95[0]))}
          height={6}
          rx={3}
        />
      )}
      <circle class="mean" cx={at(difference)} cy={8} r={3.5} />
    </svg>
  );
}

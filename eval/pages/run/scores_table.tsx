import { formatScore } from "../../../shared/pages/format.ts";
import type { RunSummary } from "../../results/run_summary.ts";
import { IntervalChart } from "../charts/interval.tsx";
import { intervalText, scoreLabel } from "../words.ts";

/** `overall` first: it is what a run is judged by. */
function inOrder(names: string[]): string[] {
  return names.toSorted((a, b) => Number(b === "overall") - Number(a === "overall"));
}

/** Every score with its interval; a press on its name chooses it. */
export function ScoresTable({ summary, chosen, onChoose }: {
  summary: RunSummary;
  chosen: string;
  onChoose: (name: string) => void;
}) {
  const { statistics, score_methods } = summary;
  return (
    <div class="table-frame flat" role="region" aria-label="Scores" tabIndex={0}>
      <table>
        <thead>
          <tr>
            <th scope="col">Score</th>
            <th scope="col" class="number">Mean</th>
            <th scope="col">Interval, 0 to 1</th>
            <th scope="col" class="number">Missing</th>
          </tr>
        </thead>
        <tbody>
          {inOrder(Object.keys(statistics)).map((name) => {
            const statistic = statistics[name]!;
            const methods = Object.keys(score_methods[name] ?? {});
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
                  {methods.length > 1 && (
                    <span class="badge warn" title={methods.join(", ")}>
                      {methods.length} methods
                    </span>
                  )}
                </th>
                <td class="number">{formatScore(statistic.mean)}</td>
                <td title={intervalText(statistic.ci95)}>
                  <IntervalChart statistic={statistic} />
                </td>
                <td class="number">{statistic.missing > 0 ? statistic.missing : ""}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

import { Link } from "../../../shared/pages/components/link.tsx";
import { TableFrame } from "../../../shared/pages/components/data_table.tsx";
import { formatCount, formatNumberOf, formatScore } from "../../../shared/pages/format.ts";
import type { ScenarioRow } from "../../http/schemas/turn_schemas.ts";
import { mean } from "../../score/mean.ts";
import { Section } from "../parts/section.tsx";
import { Shown } from "../loaded.tsx";
import { readPages, usePages } from "../parts/paging.tsx";
import { type RunAndSummary, source } from "../source.ts";

const PAGE = 50;
const MOST_ATTEMPTS = 50;

const SIGNS = { passed: "✓", failed: "✕", missing: "?", unscored: "·" };
const WORDS: Partial<Record<keyof typeof SIGNS, string>> = { missing: "not known" };

/** An attempt that nothing but a missing score keeps from passing is not shown as failed. */
function shownStanding(
  { standing, below, failed }: ScenarioRow["attempts"][number],
): keyof typeof SIGNS {
  return standing === "failed" && below + failed === 0 ? "missing" : standing;
}

/** The scenarios of a run: first those that pass in some attempts only, then those that never do. */
export function ScenariosTab({ run }: RunAndSummary) {
  const read = (cursor: string | undefined) =>
    source.scenarios(run.run_id, { sort: "stability", limit: PAGE, cursor });
  const { loaded, more } = usePages(
    (count) => readPages("scenarios", read, count),
    [run.run_id, run.status],
  );
  return (
    <Section
      title="Scenarios"
      hint={`✓: every turn passes; ✕: not every one; ?: a score is missing. ${
        run.attempts > 1
          ? "First those that pass sometimes, then those that never pass."
          : "Those that do not pass come first."
      }`}
    >
      <Shown loaded={loaded} what="the scenarios">
        {({ rows }) => (
          <>
            <Grid rows={rows} isRepeated={run.attempts > 1} />
            {more}
          </>
        )}
      </Shown>
    </Section>
  );
}

function meanOf({ attempts }: ScenarioRow): number | null {
  return mean(attempts.flatMap(({ mean }) => mean ?? []));
}

function Grid({ rows, isRepeated }: { rows: ScenarioRow[]; isRepeated: boolean }) {
  return (
    <TableFrame label="Scenarios" isFlat class="grid-table">
      <thead>
        <tr>
          <th scope="col">Scenario</th>
          <th scope="col" class="number">Mean</th>
          {isRepeated && <th scope="col" class="number">Passed</th>}
          <th scope="col">{isRepeated ? "Attempts" : "Result"}</th>
          <th scope="col" class="wide">What it is</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={row.scenario}>
            <th scope="row" class="name">
              <Link href={`?scenario=${encodeURIComponent(row.scenario_id)}`} dir="auto">
                {row.scenario_id}
              </Link>
            </th>
            <td class="number">{formatScore(meanOf(row))}</td>
            {isRepeated && (
              <td class="number">
                {`${
                  formatCount(row.attempts.filter(({ standing }) => standing === "passed").length)
                } of ${formatCount(row.attempts.length)}`}
              </td>
            )}
            <td>
              <span class="cells">
                {row.attempts.slice(0, MOST_ATTEMPTS).map((attempt) => {
                  const { attempt_id: id, mean, failed } = attempt;
                  const standing = shownStanding(attempt);
                  const word = WORDS[standing] ?? standing;
                  const said = `Attempt ${id}: ${word}, ${formatScore(mean)}` +
                    (failed > 0 ? `, ${formatNumberOf(failed, "failed call")}` : "");
                  return (
                    <Link
                      key={id}
                      class={`cell ${standing}`}
                      href={`?turn=${row.scenario}/${id}/0`}
                      aria-label={said}
                      title={said}
                    >
                      {SIGNS[standing]}
                    </Link>
                  );
                })}
              </span>
            </td>
            <td class="muted small" dir="auto">{row.description}</td>
          </tr>
        ))}
      </tbody>
    </TableFrame>
  );
}

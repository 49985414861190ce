import { useSignal } from "@preact/signals";
import { Button } from "../../../shared/pages/components/button.tsx";
import { Link } from "../../../shared/pages/components/link.tsx";
import { TableFrame } from "../../../shared/pages/components/table_frame.tsx";
import {
  formatChosen,
  formatCount,
  formatNumberOf,
  formatScore,
} from "../../../shared/pages/format.ts";
import type { ScenarioPage, ScenarioRow } from "../../api/look_schemas.ts";
import type { Run } from "../../api/run_schemas.ts";
import type { RunSummary } from "../../results/run_summary.ts";
import { Section } from "../frame.tsx";
import { useLoaded } from "../loaded.ts";
import { Shown } from "../shown.tsx";
import { source } from "../source.ts";

const FEW = 12;
/** Scenarios that are read: with more, the turns of a large run would have to wait. */
const MOST = 300;
const MOST_ATTEMPTS = 50;

const SIGNS = { passed: "✓", below: "✕", undecided: "?", unscored: "·" };

/** How evenly scenarios are passed: a cell per attempt, the least even scenarios first. */
export function Stability({ run, summary }: { run: Run; summary: RunSummary }) {
  const loaded = useLoaded(
    () => source.scenarios(run.run_id, { limit: MOST }),
    [run.run_id, run.status],
  );
  if (loaded.value && rowsOf(run, loaded.value).length === 0) return null;
  return (
    <Section
      title="Stability"
      hint={`Each attempt at each scenario: ✓ reaches ${
        formatChosen(summary.pass_threshold)
      }, ✕ does not${
        summary.undecided > 0 ? ", ? depends on scores that are missing" : ""
      }. Scenarios that change from attempt to attempt come first.`}
    >
      <Shown loaded={loaded} what="the scenarios">
        {(page) => <Scenarios rows={rowsOf(run, page)} total={page.total} />}
      </Shown>
    </Section>
  );
}

/** Attempts beyond the run's were asked after the references: they are no part of the averages. */
function rowsOf(run: Run, { scenarios }: ScenarioPage): ScenarioRow[] {
  return scenarios.map((row) => ({
    ...row,
    attempts: row.attempts.filter(({ attempt_id }) => attempt_id <= run.attempts),
  })).filter(({ attempts }) => attempts.length > 0).toSorted(byNeed);
}

/** `total` counts those that were not read, too. */
function Scenarios({ rows, total }: { rows: ScenarioRow[]; total: number | null }) {
  const isAll = useSignal(false);
  return (
    <>
      <Grid rows={isAll.value ? rows : rows.slice(0, FEW)} />
      {rows.length > FEW && (
        <div class="more">
          <Button isSmall onClick={() => isAll.value = !isAll.value}>
            {isAll.value ? "Show fewer" : `Show all ${formatCount(rows.length)}`}
          </Button>
          {total !== null && total > rows.length && (
            <span class="muted small">
              the first {formatCount(rows.length)} of {formatNumberOf(total, "scenario")}
            </span>
          )}
        </div>
      )}
    </>
  );
}

/** Mixed results first, then those that fail, then those that pass. */
function byNeed(a: ScenarioRow, b: ScenarioRow): number {
  const rank = ({ attempts }: ScenarioRow) => {
    const passed = attempts.filter(({ standing }) => standing === "passed").length;
    const share = passed / attempts.length;
    return share > 0 && share < 1 ? Math.abs(share - 0.5) : share === 0 ? 1 : 2;
  };
  return rank(a) - rank(b) || a.scenario - b.scenario;
}

function meanOf({ attempts }: ScenarioRow): number | null {
  const means = attempts.map(({ mean }) => mean).filter((mean) => mean !== null);
  return means.length === 0 ? null : means.reduce((a, b) => a + b) / means.length;
}

function Grid({ rows }: { rows: ScenarioRow[] }) {
  return (
    <TableFrame label="Attempts by scenario" isFlat class="grid-table">
      <thead>
        <tr>
          <th scope="col">Scenario</th>
          <th scope="col" class="number">Mean</th>
          <th scope="col">Attempts</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={row.scenario}>
            <th scope="row" class="name">
              <Link
                href={`?scenario=${encodeURIComponent(row.scenario_id)}#turns`}
                title={row.description}
                dir="auto"
              >
                {row.scenario_id}
              </Link>
            </th>
            <td class="number">{formatScore(meanOf(row))}</td>
            <td>
              <span class="cells">
                {row.attempts.slice(0, MOST_ATTEMPTS).map((attempt) => {
                  const { attempt_id: id, standing, mean, failed } = attempt;
                  const said = `Attempt ${id}: ${standing}, ${formatScore(mean)}` +
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
          </tr>
        ))}
      </tbody>
    </TableFrame>
  );
}

import { useEffect, useMemo, useRef } from "preact/hooks";
import { Button } from "../../../shared/pages/components/button.tsx";
import { useShortcuts } from "../../../shared/pages/components/keyboard.tsx";
import { Empty, Loading, ProblemNotice } from "../../../shared/pages/components/states.tsx";
import { formatNumberOf } from "../../../shared/pages/format.ts";
import { navigate, setQuery } from "../../../shared/pages/location.ts";
import { useIsPrinting } from "../../../shared/pages/printing.ts";
import type { Run } from "../../api/run_schemas.ts";
import type { RunSummary } from "../../results/run_summary.ts";
import { overallFirst } from "../words.ts";
import { ColumnsDialog, isChoosing, turnColumns } from "./turn_columns.tsx";
import { describeFilters, TurnFilters } from "./turn_filters.tsx";
import { createTurnList } from "./turn_list.ts";
import { isFiltered, noFilters, turnParameters } from "./turn_query.ts";
import { turnAddress, TurnsTable } from "./turns_table.tsx";

/** Rows of a list that is read again, which are awaited before it is shown. */
const MOST_AT_ONCE = 560;

/** The turns of a run, with filters. `round` grows when there are new ones. */
export function Turns({ run, summary, round }: { run: Run; summary: RunSummary; round: number }) {
  const root = useRef<HTMLElement>(null);
  const parameters = turnParameters();
  const key = JSON.stringify(parameters);
  const list = useMemo(
    () => createTurnList(run.run_id, parameters),
    [run.run_id, run.status, key, round],
  );
  /** The list in sight: the one before, until the new one has come. So the table stays where it is. */
  const last = useRef({ list, key });
  const isAgain = last.current.key === key;
  const wanted = isAgain ? Math.min(last.current.list.rows.value.length, MOST_AT_ONCE) : 1;
  const hasCome = list.isComplete.value || list.rows.value.length >= Math.max(1, wanted);
  if (hasCome || list.problem.value) last.current = { list, key };
  const inSight = last.current.list;
  useEffect(() => {
    list.reach(Math.max(0, wanted - 1));
    return list.stop;
  }, [list]);
  useEffect(() => {
    if (globalThis.location.hash === "#turns") root.current?.scrollIntoView();
  }, [key]);
  useShortcuts([
    { key: "j", does: "Next failing turn", run: () => openFirst() },
    { key: "k", does: "Previous failing turn" },
  ]);
  function openFirst(): void {
    const first = inSight.rows.value[0];
    if (first) navigate(turnAddress(first));
  }
  const isPrinting = useIsPrinting();
  const scores = overallFirst(Object.keys(summary.statistics));
  const { rows, total, isComplete, problem } = inSight;
  const isEmpty = isComplete.value && rows.value.length === 0;
  const known = total.value ?? (isComplete.value ? rows.value.length : undefined);
  return (
    <section class="card section" id="turns" aria-label="Turns" ref={root}>
      <div class="section-head">
        <div>
          <h3>Turns</h3>
          <p class="muted small" role="status">
            {problem.value && known === undefined
              ? ""
              : describeCount(hasCome || isAgain ? known : undefined)}
            {isPrinting && isFiltered() && `: ${describeFilters()}`}
          </p>
        </div>
        <Button isSmall icon="columns" onClick={() => isChoosing.value = true}>Columns</Button>
      </div>
      <TurnFilters summary={summary} />
      {problem.value && (
        <ProblemNotice problem={problem.value}>
          <Button isSmall icon="retry" onClick={() => list.reach(0)}>Try again</Button>
        </ProblemNotice>
      )}
      {isEmpty
        ? (
          <Empty icon="search" title={isFiltered() ? "No turn fits" : "No turns yet"}>
            {isFiltered() && <Button onClick={() => setQuery(noFilters())}>Clear filters</Button>}
          </Empty>
        )
        : rows.value.length > 0
        ? <TurnsTable list={inSight} of={last.current.key} columns={turnColumns(scores)} />
        : !problem.value && <Loading what="the turns" />}
      <ColumnsDialog scores={scores} />
    </section>
  );
}

function describeCount(turns: number | undefined): string {
  if (turns === undefined) return "Searching…";
  const count = formatNumberOf(turns, "turn");
  if (!isFiltered()) return `${count}, failing ones first unless sorted otherwise`;
  return `${count} ${turns === 1 ? "fits" : "fit"} the filters`;
}

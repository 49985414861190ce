import type { Signal } from "@preact/signals";
import { RowMenu } from "../actions.tsx";
import { Link } from "../../../shared/pages/components/link.tsx";
import { TableFrame } from "../../../shared/pages/components/data_table.tsx";
import {
  formatAge,
  formatCompact,
  formatCount,
  formatDateTime,
  formatDuration,
  formatScore,
} from "../../../shared/pages/format.ts";
import { navigate, query, setQuery } from "../../../shared/pages/location.ts";
import type { ListedRun } from "../../http/schemas/run_schemas.ts";
import { IntervalChart } from "../charts/interval.tsx";
import { StatusBadge } from "../parts/status_badge.tsx";
import { runActions } from "../run_actions.tsx";
import { modelOf, overallOf, sumOf, whyNoScore } from "../words.ts";
import { refreshList } from "./run_list.ts";

/** The columns, and what the service sorts by; none if it cannot. */
const COLUMNS: { label: string; sort?: string; isNumber?: boolean; isMinor?: boolean }[] = [
  { label: "Test", sort: "test_name" },
  { label: "Model", sort: "model_id" },
  { label: "Score", sort: "overall" },
  { label: "Passed", isNumber: true },
  { label: "Status", sort: "status" },
  { label: "Failed calls", isNumber: true, isMinor: true },
  { label: "Tokens", isNumber: true, isMinor: true },
  { label: "Duration", sort: "duration", isNumber: true, isMinor: true },
  { label: "Started", sort: "created_at" },
];

/** `chosen` are the ids of the runs to compare or delete. */
export function RunsTable({ runs, chosen }: { runs: ListedRun[]; chosen: Signal<string[]> }) {
  return (
    <TableFrame label="Runs" class="runs two-lines">
      <thead>
        <tr>
          <th scope="col" class="tick-cell">
            <span class="visually-hidden">Choose</span>
          </th>
          {COLUMNS.map((column) => <SortHeader key={column.label} {...column} />)}
          <th scope="col" class="wide-only">
            <span class="visually-hidden">Actions</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {runs.map((run) => <RunRow key={run.run_id} run={run} chosen={chosen} />)}
      </tbody>
    </TableFrame>
  );
}

/** The name of a column. It sorts the table, if the service can: a second press reverses the order. */
function SortHeader({ label, sort, isNumber, isMinor }: typeof COLUMNS[number]) {
  const current = query.value.get("sort") ?? "-created_at";
  const order = current === sort ? "ascending" : current === `-${sort}` ? "descending" : undefined;
  const isNextUp = order ? order === "descending" : sort?.endsWith("name");
  return (
    <th
      scope="col"
      class={`${isNumber ? "number" : ""} ${isMinor ? "wide-only" : ""}`}
      aria-sort={order}
    >
      {sort
        ? (
          <button
            type="button"
            class="sort"
            onClick={() => setQuery({ sort: isNextUp ? sort : `-${sort}` })}
          >
            {label}
            <span class="arrow" aria-hidden="true">
              {order && (order === "descending" ? "↓" : "↑")}
            </span>
          </button>
        )
        : label}
    </th>
  );
}

function RunRow({ run, chosen }: { run: ListedRun; chosen: Signal<string[]> }) {
  const { run_id: id, headline, progress } = run;
  const overall = headline && overallOf(headline);
  const scenarios = headline?.scenarios;
  const all = scenarios && sumOf(scenarios);
  const usage = headline && headline.usage.input_tokens + headline.usage.output_tokens;
  const ended = run.finished_at ? Date.parse(run.finished_at) : undefined;
  const isChosen = chosen.value.includes(id);
  return (
    <tr>
      <td class="tick-cell">
        <input
          type="checkbox"
          aria-label={`Choose ${run.test_name}, ${formatDateTime(run.created_at)}`}
          checked={isChosen}
          onChange={() =>
            chosen.value = isChosen
              ? chosen.value.filter((other) => other !== id)
              : [...chosen.value, id]}
        />
      </td>
      <td class="name">
        <Link href={`/ui/runs/${id}`} dir="auto">{run.test_name || "(no name)"}</Link>
        {run.tags?.map((tag) => <span key={tag} class="badge tag">{tag}</span>)}
      </td>
      <td class="model" dir="auto">
        {run.group_id
          ? (
            <Link href={`/ui/compare?group=${run.group_id}`} title="Beside the other models">
              <ModelName name={modelOf(run)} />
            </Link>
          )
          : <ModelName name={modelOf(run)} />}
      </td>
      <td class="score">
        {overall
          ? (
            <span class="score-cell">
              <strong>{formatScore(overall.mean)}</strong>
              {run.status !== "completed" && <span class="muted small">so far</span>}
              <IntervalChart statistic={overall} />
            </span>
          )
          : headline
          ? <span class="muted small">none: {whyNoScore(progress)}</span>
          : <span class="muted">{formatScore(progress.mean)} so far</span>}
      </td>
      <td class="number">
        {scenarios ? `${formatCount(scenarios.passed)} / ${formatCount(all!)}` : "–"}
      </td>
      <td>
        <StatusBadge run={run} />
      </td>
      <td class={`number wide-only ${progress.failed > 0 ? "bad-text" : ""}`}>
        {formatCount(progress.failed)}
      </td>
      <td class="number wide-only">{usage ? formatCompact(usage) : "–"}</td>
      <td class="number wide-only">
        {ended ? formatDuration(ended - Date.parse(run.created_at)) : "–"}
      </td>
      <td class="age" title={formatDateTime(run.created_at)}>{formatAge(run.created_at)}</td>
      <td class="actions-cell wide-only">
        <RowMenu
          of={`${run.test_name}, ${formatDateTime(run.created_at)}`}
          items={[
            {
              label: "Trend of this test",
              icon: "right",
              onSelect: () => navigate(`/?test=${encodeURIComponent(run.test_name)}`),
            },
            ...runActions(run, refreshList),
          ]}
        />
      </td>
    </tr>
  );
}

/** A model's id, which breaks after a slash if it is too long for a line. */
function ModelName({ name }: { name: string }) {
  return (
    <>
      {name.split("/").flatMap((part, index) =>
        index === 0 ? [part] : ["/", <wbr key={index} />, part]
      )}
    </>
  );
}

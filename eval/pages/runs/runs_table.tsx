import { type Signal, useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { RowMenu } from "../actions.tsx";
import { Button } from "../../../shared/pages/components/button.tsx";
import { Link } from "../../../shared/pages/components/link.tsx";
import type { MenuItem } from "../../../shared/pages/components/menu.tsx";
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
        {gather(runs).map((own) =>
          own.length > 1
            ? <GroupRows key={own[0]!.group_id} runs={own} chosen={chosen} />
            : <RunRow key={own[0]!.run_id} run={own[0]!} chosen={chosen} />
        )}
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

/** The runs of a group together, where its first one is. */
function gather(runs: ListedRun[]): ListedRun[][] {
  return [...Map.groupBy(runs, ({ group_id, run_id }) => group_id ?? run_id).values()];
}

/** A group is one row with its best model; its runs are shown on demand. */
function GroupRows({ runs, chosen }: { runs: ListedRun[]; chosen: Signal<string[]> }) {
  const isOpen = useSignal(false);
  const meanOf = ({ headline }: ListedRun) => (headline && overallOf(headline)?.mean) ?? -1;
  const best = runs.toSorted((a, b) => meanOf(b) - meanOf(a))[0]!;
  const address = `/ui/compare?group=${best.group_id}`;
  const statuses = new Set(runs.map(({ status }) => status));
  const ended = runs.map(({ finished_at }) => finished_at);
  const sum = (pick: (run: ListedRun) => number) => runs.reduce((sum, run) => sum + pick(run), 0);
  return (
    <>
      <RunRow
        run={{
          ...best,
          status: statuses.has("running") ? "running" : best.status,
          finished_at: ended.includes(null) ? null : ended.toSorted().at(-1)!,
          headline: best.headline && {
            ...best.headline,
            usage: {
              input_tokens: sum(({ headline }) => headline?.usage.input_tokens ?? 0),
              output_tokens: sum(({ headline }) => headline?.usage.output_tokens ?? 0),
            },
          },
          progress: {
            ...best.progress,
            done: sum(({ progress }) => progress.done),
            failed: sum(({ progress }) => progress.failed),
            total: sum(({ progress }) => progress.total),
          },
        }}
        chosen={chosen}
        ids={runs.map(({ run_id }) => run_id)}
        address={address}
        model={
          <>
            <Button
              kind="quiet"
              isSmall
              aria-expanded={isOpen.value}
              onClick={() => isOpen.value = !isOpen.value}
            >
              {isOpen.value ? "▾" : "▸"} {runs.length} models
            </Button>
            {meanOf(best) >= 0 && (
              <span class="muted small">
                best: <bdi>{modelOf(best)}</bdi>
              </span>
            )}
          </>
        }
        actions={[{ label: "Side by side", icon: "columns", onSelect: () => navigate(address) }]}
      />
      {isOpen.value &&
        runs.map((run) => <RunRow key={run.run_id} run={run} chosen={chosen} isOfGroup />)}
    </>
  );
}

function RunRow({ run, chosen, ids = [run.run_id], address, model, actions, isOfGroup }: {
  run: ListedRun;
  chosen: Signal<string[]>;
  /** All that are chosen with the row. */
  ids?: string[];
  /** Where it leads, if not to the run. */
  address?: string;
  model?: ComponentChildren;
  actions?: MenuItem[];
  isOfGroup?: boolean;
}) {
  const { run_id: id, headline, progress } = run;
  const overall = headline && overallOf(headline);
  const scenarios = headline?.scenarios;
  const all = scenarios && sumOf(scenarios);
  const usage = headline && headline.usage.input_tokens + headline.usage.output_tokens;
  const ended = run.finished_at ? Date.parse(run.finished_at) : undefined;
  const isChosen = ids.every((id) => chosen.value.includes(id));
  const others = chosen.value.filter((other) => !ids.includes(other));
  const hasFailed = progress.done > 0 && progress.failed === progress.done;
  return (
    <tr class={isOfGroup ? "of-group" : ""}>
      <td class="tick-cell">
        <input
          type="checkbox"
          aria-label={`Choose ${run.test_name}, ${formatDateTime(run.created_at)}`}
          checked={isChosen}
          onChange={() => chosen.value = isChosen ? others : [...others, ...ids]}
        />
      </td>
      <td class="name">
        <Link href={address ?? `/ui/runs/${id}`} dir="auto">{run.test_name || "(no name)"}</Link>
        {run.tags?.map((tag) => <span key={tag} class="badge tag">{tag}</span>)}
      </td>
      <td class="model" dir="auto">
        {model ?? <ModelName name={modelOf(run)} />}
      </td>
      <td class="score">
        {hasFailed
          ? <span class="badge bad">all calls failed</span>
          : overall
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
            ...(actions ?? runActions(run, refreshList)),
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

import { useEffect, useMemo, useRef } from "preact/hooks";
import { Failed } from "../loaded.tsx";
import { Button } from "../../../shared/pages/components/button.tsx";
import { useShortcuts } from "../../../shared/pages/components/keyboard.tsx";
import { Empty, Loading } from "../../../shared/pages/components/states.tsx";
import { formatNumberOf } from "../../../shared/pages/format.ts";
import { navigate, query, setQuery } from "../../../shared/pages/location.ts";
import { useIsPrinting } from "./printing.ts";
import type { Run } from "../../http/schemas/run_schemas.ts";
import { Select } from "../parts/fields.tsx";
import { scoreLabel } from "../words.ts";
import { Chips, describeFilters, MoreFilters } from "./reply_filters.tsx";
import { ReplyRows, turnAddress } from "./reply_rows.tsx";
import { createTurnList } from "./turn/turn_list.ts";
import {
  isFiltered,
  isPlain,
  LINES,
  NEWEST_FIRST,
  noFilters,
  readLines,
  turnParameters,
  WORST_FIRST,
} from "./turn/turn_query.ts";
import type { RunAndSummary } from "../source.ts";

/** Rows of a list that is read again, which are awaited before it is shown. */
const MOST_AT_ONCE = 310;

/** The order in which a run's turns are shown: while it is running, the newest first. */
function usualSort({ status }: Pick<Run, "status">): string {
  return status === "running" ? NEWEST_FIRST : WORST_FIRST;
}

/** The turns of a run with question, reference and reply. `round` grows when there are new ones. */
export function RepliesTab({ run, summary, round, before }: RunAndSummary & {
  round: number;
  /** The last run of the same test. */
  before?: Run | undefined;
}) {
  const sort = usualSort(run);
  const parameters = turnParameters({ sort });
  const key = JSON.stringify([run.run_id, parameters, readLines() === "all"]);
  const list = useMemo(
    () => createTurnList(run.run_id, parameters),
    [run.run_id, run.status, key, round],
  );
  /** The list that is shown: the previous one until the new one has loaded, so that nothing jumps. */
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
  useShortcuts([
    { key: "j", does: "Next failing turn", run: () => openFirst() },
    { key: "k", does: "Previous failing turn" },
  ]);
  function openFirst(): void {
    const first = inSight.rows.value[0];
    if (first) navigate(turnAddress(first));
  }
  const isPrinting = useIsPrinting();
  const { rows, total, isComplete, problem } = inSight;
  const isEmpty = isComplete.value && rows.value.length === 0;
  const known = total.value ?? (isComplete.value ? rows.value.length : undefined);
  const isRunning = run.status === "running";
  return (
    <section id="turns" class="replies" aria-label="Replies">
      <Chips run={run} summary={summary} before={before} />
      <div class="reply-tools">
        <Segments
          label="Lines of each text"
          name="lines"
          options={Object.keys(LINES).map((lines) => ({
            value: lines === "3" ? "" : lines,
            label: lines === "all" ? "All" : lines === "1" ? "1 line" : `${lines} lines`,
          }))}
          chosen={readLines() === "3" ? "" : readLines()}
        />
        <Segments
          label="How texts are shown"
          name="text"
          options={[{ value: "", label: "Rendered" }, { value: "plain", label: "Plain" }]}
          chosen={isPlain() ? "plain" : ""}
        />
        <MoreFilters summary={summary} before={before} />
        <span class="spacer" />
        <span class="muted small" role="status">
          {problem.value && known === undefined || isRunning
            ? ""
            : describeCount(hasCome || isAgain ? known : undefined)}
          {isPrinting && isFiltered() && `: ${describeFilters()}`}
        </span>
        <SortChoice scores={Object.keys(summary.statistics)} usual={sort} />
      </div>
      <Failed problem={problem.value} retry={() => list.reach(0)} />
      {isEmpty
        ? (
          <Empty icon="search" title={isFiltered() ? "No turn fits" : "No turns yet"}>
            {isFiltered() && <Button onClick={() => setQuery(noFilters())}>Clear filters</Button>}
          </Empty>
        )
        : rows.value.length > 0
        ? (
          <ReplyRows
            list={inSight}
            of={last.current.key}
            isRunning={isRunning}
          />
        )
        : !problem.value && <Loading what="the replies" />}
    </section>
  );
}

function describeCount(turns: number | undefined): string {
  if (turns === undefined) return "Searching…";
  const count = formatNumberOf(turns, "turn");
  return isFiltered() ? `${count} ${turns === 1 ? "fits" : "fit"} the filters` : count;
}

/** One of a few choices that the address keeps under a name. */
function Segments({ label, name, options, chosen }: {
  label: string;
  name: string;
  options: { value: string; label: string }[];
  chosen: string;
}) {
  return (
    <div class="segments" role="group" aria-label={label}>
      {options.map(({ value, label }) => (
        <button
          key={value}
          type="button"
          aria-pressed={value === chosen}
          onClick={() => setQuery({ [name]: value })}
        >
          {label}
        </button>
      ))}
    </div>
  );
}

const SORTS: [sort: string, label: string][] = [
  ["worst", "worst first"],
  ["overall", "lowest overall first"],
  ["-overall", "best first"],
  ["position", "in the order of the test"],
  ["-seq", "newest first"],
  ["-latency_ms", "slowest first"],
  ["-tokens", "most tokens first"],
];

function SortChoice({ scores, usual }: { scores: string[]; usual: string }) {
  const others = scores.filter((name) => name !== "overall")
    .map((name) => [name, `lowest ${scoreLabel(name)} first`] as const);
  return (
    <Select
      aria-label="Order"
      options={[...SORTS, ...others]}
      value={query.value.get("sort") ?? usual}
      onChoose={(sort) => setQuery({ sort: sort === usual ? undefined : sort })}
    />
  );
}

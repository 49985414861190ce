import { useSignal } from "@preact/signals";
import { Button } from "../../../shared/pages/components/button.tsx";
import { useShortcuts } from "../../../shared/pages/components/keyboard.tsx";
import { Link } from "../../../shared/pages/components/link.tsx";
import { Menu } from "../../../shared/pages/components/menu.tsx";
import { Empty } from "../../../shared/pages/components/states.tsx";
import { query, setQuery } from "../../../shared/pages/location.ts";
import { mean } from "../../score/mean.ts";
import { SearchField } from "../parts/search_field.tsx";
import { TableFrame } from "../../../shared/pages/components/data_table.tsx";
import {
  formatCount,
  formatDuration,
  formatNumberOf,
  formatScore,
} from "../../../shared/pages/format.ts";
import { readChoice } from "../../../shared/pages/storage.ts";
import type { ComparedRun, Comparison } from "../../figures/compare_stored.ts";
import type { TurnRow } from "../../run/turn_view.ts";
import type { PlacedGrade } from "../../test/grades.ts";
import { AUTHOR, GradeSteps, saveGrade, STEPS } from "../grades/grading.tsx";
import { Shown, useLoaded } from "../loaded.tsx";
import { Select } from "../parts/fields.tsx";
import { MoreButton, readPages, usePages } from "../parts/paging.tsx";
import { Reasons, Said } from "../run/reply_rows.tsx";
import { tryAction } from "../actions.tsx";
import { source } from "../source.ts";
import {
  costText,
  errorText,
  overallOf,
  placeOf,
  resultOf,
  RESULTS,
  saidAt,
  sumOf,
  whyNoScore,
} from "../words.ts";

/** Rows that are drawn at once. */
const STEP = 100;
const EXCERPT = 600;
/** The most attempts that the service sends at once. */
const MOST = 1_000;
const ORDERS: [value: string, label: string][] = [
  ["", "largest difference of means first"],
  ["position", "in the order of the test"],
];
const FILTERS: [value: string, label: string][] = [
  ["", "All turns"],
  ["failing", "Not passed by a model"],
  ["different", "Passed by some models only"],
  ["contradicts", "Contradicts the reference"],
  ["tools", "Wrong tool calls"],
];
/** The label of a grade that marks the better reply. */
const PREFERRED = "preferred";

/** All attempts of each model at one turn; in the order of the models. */
interface GridRow {
  key: string;
  cells: TurnRow[][];
  first: TurnRow;
  /** Whether an attempt does not pass; by model. */
  failing: boolean[];
  /** The largest difference between the mean scores of two models. */
  spread: number;
}

/** Every scenario with the replies of all models beside each other. */
export function ReplyGrid({ comparison }: { comparison: Comparison }) {
  const { runs, status } = comparison;
  const drawn = useSignal(STEP);
  const ids = runs.map(({ run_id }) => run_id).join();
  const hidden = new Set(query.value.get("hidden")?.split(","));
  const columns = [...runs.entries()].filter(([, { run_id }]) => !hidden.has(run_id));
  const { loaded, more } = usePages(
    async (count) => {
      const all = await Promise.all(runs.map((run) => readTurns(run, count)));
      return { rows: toRows(all.map(({ rows }) => rows)), hasMore: all.some((one) => one.hasMore) };
    },
    [ids, status],
  );
  const grades = useOwnGrades(runs);
  const change = (id: string) =>
    setQuery({ hidden: [...hidden.symmetricDifference(new Set([id]))].join() });
  useShortcuts([
    { key: "j", does: "Next turn", run: () => moveFocus(1, 0) },
    { key: "k", does: "Previous turn", run: () => moveFocus(-1, 0) },
    { key: "l", does: "Next model", run: () => moveFocus(0, 1) },
    { key: "h", does: "Previous model", run: () => moveFocus(0, -1) },
    { key: "Enter", does: "Open the turn" },
    { key: "1…5", does: `Grade the reply, from ${STEPS[0]![0]} to ${STEPS.at(-1)![0]}` },
  ]);
  return (
    <Shown loaded={loaded} what="the replies">
      {({ rows, hasMore }) => {
        const shown = sorted(rows.filter(fits));
        return (
          <>
            <div class="reply-tools">
              <span class="muted small">
                {`${hasMore ? "Of the first " : ""}${formatNumberOf(rows.length, "turn")}`}
                {shown.length < rows.length && `, ${formatCount(shown.length)} shown`}
                {runs.some(({ attempts }) => attempts > 1) &&
                  ". Each cell shows the worst attempt; a mark opens its attempt."}
              </span>
              <span class="spacer" />
              <SearchField label="Search in the turns" placeholder="Search" />
              <Select
                aria-label="Which turns"
                options={FILTERS}
                value={query.value.get("show") ?? ""}
                onChoose={(show) => setQuery({ show })}
              />
              <Select
                aria-label="Order"
                options={ORDERS}
                value={query.value.get("sort") ?? ""}
                onChoose={(sort) => setQuery({ sort })}
              />
              {runs.length > 2 && (
                <Menu
                  button={{ children: "Columns" }}
                  items={runs.map(({ name, run_id }) => ({
                    label: `${hidden.has(run_id) ? "Show" : "Hide"} ${name}`,
                    onSelect: () => change(run_id),
                  }))}
                />
              )}
            </div>
            <TableFrame label="Replies by model" class="reply-grid">
              <thead>
                <tr>
                  <th scope="col">Scenario and reference</th>
                  {columns.map(([, model]) => (
                    <ModelHead key={model.run_id} model={model} comparison={comparison} />
                  ))}
                </tr>
              </thead>
              <tbody>
                {shown.slice(0, drawn.value).map((row) => (
                  <Row key={row.key} row={row} columns={columns} grades={grades} />
                ))}
              </tbody>
            </TableFrame>
            {shown.length === 0 && (
              <Empty icon="search" title="No turn fits">
                <Button onClick={() => setQuery({ q: "", show: "" })}>Clear filters</Button>
              </Empty>
            )}
            {shown.length > drawn.value ? <MoreButton onMore={() => drawn.value += STEP} /> : more}
          </>
        );
      }}
    </Shown>
  );
}

/** Moves the focus by rows and models; at first to the first row in sight. */
function moveFocus(rows: number, models: number): void {
  const all = [...document.querySelectorAll<HTMLTableRowElement>(".reply-grid tbody tr")];
  const cell = document.activeElement?.closest("td");
  const at = all.findIndex((row) => row.contains(cell ?? null));
  const inSight = all.findIndex((row) => row.getBoundingClientRect().top >= 0);
  const row = at < 0 ? all[inSight] : all[at + rows];
  const next = row?.cells[at < 0 ? 1 : Math.max(1, cell!.cellIndex + models)];
  next?.querySelector<HTMLElement>("a, .muted")?.focus();
}

function readTurns({ run_id }: ComparedRun, count: number) {
  const read = (cursor: string | undefined) =>
    source.turns(run_id, {
      sort: "position",
      fields: "user_message,reference_reply,agent_reply,error,wrong_values",
      max_chars: EXCERPT,
      limit: MOST,
      cursor,
    });
  return readPages("turns", read, count);
}

function toRows(columns: TurnRow[][]): GridRow[] {
  const places = new Map<string, TurnRow[][]>();
  for (const [column, turns] of columns.entries()) {
    const scenarios = new Map<string, number[]>(); // ids may repeat
    for (const turn of turns) {
      const positions = scenarios.getOrInsertComputed(turn.scenario_id, () => []);
      if (!positions.includes(turn.scenario)) positions.push(turn.scenario);
      const copy = positions.indexOf(turn.scenario);
      const key = JSON.stringify([turn.scenario_id, copy, turn.turn]);
      places.getOrInsertComputed(key, () => columns.map(() => []))[column]!.push(turn);
    }
  }
  return [...places].map(([key, cells]) => {
    const means = cells.flatMap((attempts) => mean(attempts.flatMap(scoreOf)) ?? []);
    const spread = means.length > 1 ? Math.max(...means) - Math.min(...means) : 0;
    const failing = cells.map((attempts) => attempts.some((turn) => !isPassed(turn)));
    return { key, cells, first: cells.flat()[0]!, failing, spread };
  });
}

/** What failed or is missing counts 0, as in the means of the runs. */
const scoreOf = ({ scores, outcome }: TurnRow) =>
  scores.overall ?? (outcome === "unscored" ? [] : 0);

/** Whether a row is what the address asks for. */
function fits({ cells, first, failing }: GridRow): boolean {
  const all = cells.flat();
  const text = (query.value.get("q") ?? "").toLowerCase();
  const said = all.map(saidAt).flatMap(({ agent_reply }) => agent_reply ?? []);
  const { user_message = "", reference_reply = "" } = saidAt(first);
  const texts = [first.scenario_id, user_message, reference_reply, ...said];
  if (!texts.some((one) => one.toLowerCase().includes(text))) return false;
  switch (query.value.get("show")) {
    case "failing":
      return failing.includes(true);
    case "different":
      return failing.includes(true) && failing.includes(false);
    case "contradicts":
      return all.some(({ agreement }) => agreement === "contradicts");
    case "tools":
      return all.some(({ scores }) => typeof scores.tools === "number" && scores.tools < 1);
    default:
      return true;
  }
}

const isPassed = ({ outcome }: TurnRow) => outcome === "passed" || outcome === "unscored";

/** In the order of the address; of equal differences, what does not pass comes first. */
function sorted(rows: GridRow[]): GridRow[] {
  const fails = ({ failing }: GridRow) => Number(failing.includes(true));
  return query.value.get("sort") === "position"
    ? rows.toSorted((a, b) => a.first.scenario - b.first.scenario || a.first.turn - b.first.turn)
    : rows.toSorted((a, b) => b.spread - a.spread || fails(b) - fails(a));
}

/** The attempt to look at first: one that does not pass, and of these the lowest. */
function worstOf(attempts: TurnRow[]): TurnRow | undefined {
  const rankOf = ({ scores, error }: TurnRow) => error ? -1 : scores.overall ?? 0;
  const [worst] = attempts.toSorted((a, b) =>
    Number(isPassed(a)) - Number(isPassed(b)) || rankOf(a) - rankOf(b)
  );
  return worst;
}

/** A model with its headline, and whether it is the best or worse. */
function ModelHead({ model, comparison: { best, pairs } }: {
  model: ComparedRun;
  comparison: Comparison;
}) {
  const { name, run_id, scenarios, cost, latency_ms } = model;
  const overall = overallOf(model);
  const isBest = best?.length === 1 && best[0] === name;
  const isWorse = pairs?.some(({ baseline, candidate, better }) =>
    better !== null && better !== name && (baseline === name || candidate === name) &&
    best?.includes(better)
  );
  const all = scenarios && sumOf(scenarios);
  const facts = [
    scenarios && !overall && whyNoScore(model.progress),
    scenarios && `${formatCount(scenarios.passed)} of ${formatCount(all!)} pass`,
    costText(cost),
    latency_ms && formatDuration(latency_ms.p50),
  ];
  return (
    <th scope="col">
      <Link href={`/ui/runs/${run_id}`} dir="auto">{name}</Link> {isBest
        ? <span class="badge good">best</span>
        : isWorse
        ? <span class="badge bad">worse</span>
        : null}
      <div class="model-score">
        <span class="big">
          {scenarios && !overall ? "no score" : formatScore(overall?.mean)}
        </span>{" "}
        <span class="muted">{facts.filter(Boolean).join(" · ")}</span>
      </div>
    </th>
  );
}

function Row({ row: { cells, first, spread }, columns, grades }: {
  row: GridRow;
  columns: [index: number, model: ComparedRun][];
  grades: OwnGrades;
}) {
  const said = saidAt(first);
  const worst = cells.map(worstOf);
  const best = Math.max(...worst.flatMap((turn) => turn?.scores.overall ?? []));
  return (
    <tr>
      <th scope="row">
        <div class="muted small">
          <bdi>{first.scenario_id}</bdi>
          {`, turn ${first.turn + 1} · difference ${formatScore(spread)}`}
        </div>
        <div dir="auto">{said.user_message}</div>
        {said.reference_reply && <div class="reference" dir="auto">{said.reference_reply}</div>}
      </th>
      {columns.map(([index, model]) => (
        <td key={model.run_id} data-label={model.name}>
          {worst[index]
            ? (
              <Cell
                turn={worst[index]}
                attempts={cells[index]!}
                model={model}
                reference={said.reference_reply ?? ""}
                isWinner={worst[index].scores.overall === best}
                grades={grades}
              />
            )
            : <span class="muted" tabIndex={-1}>not asked</span>}
        </td>
      ))}
    </tr>
  );
}

function Cell({ turn, attempts, model, reference, isWinner, grades }: {
  turn: TurnRow;
  attempts: TurnRow[];
  model: ComparedRun;
  reference: string;
  isWinner: boolean;
  grades: OwnGrades;
}) {
  const { label, tone } = describeResult(turn, attempts);
  const { agent_reply = "", error, wrong_values } = saidAt(turn);
  const own = grades.of(model.run_id, turn);
  const isPreferred = own?.label === PREFERRED;
  const grade = (value: number, label?: string) =>
    grades.save(model.run_id, turn, value, label ?? (isPreferred ? "" : own?.label));
  return (
    <div
      class="grid-cell"
      onKeyDown={({ key, ctrlKey, metaKey, altKey }) => {
        const step = STEPS[Number(key) - 1];
        if (step && !error && source.isLive && !(ctrlKey || metaKey || altKey)) grade(step[1]);
      }}
    >
      <div class="grid-cell-head">
        <Link
          href={turnAddress(model.run_id, turn)}
          aria-label={`${label}: open the turn`}
          class={`badge ${tone}`}
        >
          {label}
        </Link>
        <span class="muted small">
          {!error && (isWinner
            ? <strong title="the highest score">{formatScore(turn.scores.overall)}</strong>
            : formatScore(turn.scores.overall))}
        </span>
        {attempts.length > 1 && (
          <span class="marks">
            {attempts.map((one) => {
              const { label, sign, tone } = RESULTS[one.outcome];
              return (
                <Link
                  key={one.attempt_id}
                  href={turnAddress(model.run_id, one)}
                  class={`${tone} ${one === turn ? "own" : ""}`}
                  aria-label={`Attempt ${one.attempt_id}: ${label}`}
                >
                  {sign}
                </Link>
              );
            })}
          </span>
        )}
      </div>
      {error ? <div class="bad-text" dir="auto">{errorText(error.detail)}</div> : (
        <Said
          text={agent_reply}
          other={reference || agent_reply}
          side="after"
          wrong={wrong_values}
        />
      )}
      <Reasons turn={turn} />
      {!error && source.isLive && (
        <GradeSteps
          value={String(own?.value ?? "")}
          isShort
          onChoose={(step) => grade(step)}
        >
          <label class="prefer muted small">
            <input
              type="checkbox"
              checked={isPreferred}
              onChange={() => isPreferred ? grades.remove(model.run_id, turn) : grade(1, PREFERRED)}
            />
            prefer this reply
          </label>
        </GradeSteps>
      )}
    </div>
  );
}

/** The address of a turn, from which one comes back to this comparison. */
export function turnAddress(runId: string, turn: TurnRow): string {
  return `/ui/runs/${runId}?from=${encodeURIComponent(String(query.value))}&turn=${placeOf(turn)}`;
}

/** The result of the turn; how often it passes, if only some of its attempts do. */
function describeResult(turn: TurnRow, attempts: TurnRow[]): { label: string; tone: string } {
  const passed = attempts.filter(({ outcome }) => outcome === "passed").length;
  if (passed === 0 || passed === attempts.length) return RESULTS[resultOf(turn)];
  return { label: `${formatCount(passed)} of ${formatCount(attempts.length)} pass`, tone: "" };
}

type OwnGrades = ReturnType<typeof useOwnGrades>;

/** The grades that this person has given to replies of the runs. */
function useOwnGrades(runs: ComparedRun[]) {
  const author = readChoice<string>(AUTHOR) ?? "";
  const keyOf = (runId: string, placed: Parameters<typeof placeOf>[0]) =>
    `${runId}/${placeOf(placed)}`;
  const { value: known, reload } = useLoaded(async () => {
    const known = new Map<string, PlacedGrade>();
    for (const { run_id } of source.isLive ? runs : []) {
      const read = (cursor: string | undefined) => source.grades!(run_id, { limit: 1_000, cursor });
      for (const grade of (await readPages("grades", read)).rows) {
        if ((grade.author ?? "") === author) known.set(keyOf(run_id, grade), grade);
      }
    }
    return known;
  }, [author, ...runs.map(({ run_id }) => run_id)]);
  const of = (runId: string, turn: TurnRow) => known?.get(keyOf(runId, turn));
  return {
    of,
    /** What else an earlier grade says stays. */
    save: (runId: string, turn: TurnRow, value: number, label: string | null | undefined) =>
      tryAction(() => {
        const { comment, corrected_reply } = of(runId, turn) ?? {};
        const said = { label, comment, corrected_reply, author };
        const isNew = !of(runId, turn);
        return saveGrade({ runId, place: placeOf(turn), isNew, onSaved: reload }, value, said);
      }),
    remove: (runId: string, turn: TurnRow) =>
      tryAction(async () => {
        await source.deleteGrade!(runId, placeOf(turn), author);
        reload();
        return "The grade is deleted.";
      }),
  };
}

import { useSignal } from "@preact/signals";
import { DiffText } from "../../../shared/pages/components/diff_text.tsx";
import { Link } from "../../../shared/pages/components/link.tsx";
import { Menu } from "../../../shared/pages/components/menu.tsx";
import { query, setQuery } from "../../../shared/pages/location.ts";
import { mean } from "../../score/mean.ts";
import { SearchField } from "../parts/search_field.tsx";
import { hasMarkup, RichText } from "../parts/rich_text.tsx";
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
import { deleteGrade, gradeTurn, listGrades } from "../api.ts";
import { AUTHOR } from "../grades/grading.tsx";
import { Shown, useLoaded } from "../loaded.tsx";
import { Select } from "../parts/fields.tsx";
import { readPages, usePages } from "../parts/paging.tsx";
import { Reasons } from "../run/reply_rows.tsx";
import { tryAction } from "../actions.tsx";
import { source } from "../source.ts";
import {
  costText,
  errorText,
  meanText,
  overallOf,
  placeOf,
  resultOf,
  RESULTS,
  saidAt,
  sumOf,
  whyNoScore,
} from "../words.ts";

const PAGE = 100;
const EXCERPT = 600;
/** The most rows that the service sends at once. */
const MOST = 1_000;
const ORDERS: [value: string, label: string][] = [
  ["spread", "where models differ most first"],
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
  /** The largest difference between the mean scores of two models. */
  spread: number;
}

/** Every scenario with the replies of all models beside each other. */
export function ReplyGrid({ comparison }: { comparison: Comparison }) {
  const order = useSignal("spread");
  const { runs, status } = comparison;
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
  const change = (id: string) =>
    setQuery({ hidden: [...hidden.symmetricDifference(new Set([id]))].join() });
  return (
    <Shown loaded={loaded} what="the replies">
      {({ rows, hasMore }) => {
        const shown = sorted(rows.filter(fits), order.value);
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
                value={order.value}
                onChoose={(value) => order.value = value}
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
                {shown.map((row) => <Row key={row.key} row={row} columns={columns} />)}
              </tbody>
            </TableFrame>
            {more}
          </>
        );
      }}
    </Shown>
  );
}

function readTurns({ run_id, attempts }: ComparedRun, count: number) {
  const read = (cursor: string | undefined) =>
    source.turns(run_id, {
      sort: "position",
      counted: "true",
      fields: "user_message,reference_reply,agent_reply,error,wrong_values",
      max_chars: EXCERPT,
      limit: Math.min(MOST, PAGE * attempts),
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
    const means = cells.flatMap((attempts) =>
      mean(attempts.flatMap(({ scores }) => scores.overall ?? [])) ?? []
    );
    const spread = means.length > 1 ? Math.max(...means) - Math.min(...means) : 0;
    return { key, cells, first: cells.flat()[0]!, spread };
  });
}

/** Whether a row is what the address asks for. */
function fits({ cells, first }: GridRow): boolean {
  const all = cells.flat();
  const text = (query.value.get("q") ?? "").toLowerCase();
  const said = all.map(saidAt).flatMap(({ agent_reply }) => agent_reply ?? []);
  const { user_message = "", reference_reply = "" } = saidAt(first);
  const texts = [first.scenario_id, user_message, reference_reply, ...said];
  if (!texts.some((one) => one.toLowerCase().includes(text))) return false;
  const failing = cells.map((attempts) => attempts.some((turn) => !isPassed(turn)));
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

function sorted(rows: GridRow[], order: string): GridRow[] {
  if (order === "spread") return rows.toSorted((a, b) => b.spread - a.spread);
  return rows.toSorted((a, b) =>
    a.first.scenario - b.first.scenario || a.first.turn - b.first.turn
  );
}

/** The attempt to look at first: one that does not pass, and of these the lowest. */
function worstOf(attempts: TurnRow[]): TurnRow | undefined {
  const scoreOf = ({ scores, error }: TurnRow) => error ? -1 : scores.overall ?? 0;
  const [worst] = attempts.toSorted((a, b) =>
    Number(isPassed(a)) - Number(isPassed(b)) || scoreOf(a) - scoreOf(b)
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
          {scenarios && !overall ? "no score" : meanText(overall)}
        </span>{" "}
        <span class="muted">{facts.filter(Boolean).join(" · ")}</span>
      </div>
    </th>
  );
}

function Row({ row: { cells, first }, columns }: {
  row: GridRow;
  columns: [index: number, model: ComparedRun][];
}) {
  const said = saidAt(first);
  const worst = cells.map(worstOf);
  const best = Math.max(...worst.flatMap((turn) => turn?.scores.overall ?? []));
  return (
    <tr>
      <th scope="row">
        <div class="muted small">
          <bdi>{first.scenario_id}</bdi>
          {`, turn ${first.turn + 1}`}
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
              />
            )
            : <span class="muted">not asked</span>}
        </td>
      ))}
    </tr>
  );
}

function Cell({ turn, attempts, model, reference, isWinner }: {
  turn: TurnRow;
  attempts: TurnRow[];
  model: ComparedRun;
  reference: string;
  isWinner: boolean;
}) {
  const { label, tone } = describeResult(turn, attempts);
  const { agent_reply = "", error, wrong_values } = saidAt(turn);
  const addressOf = (one: TurnRow) => `/ui/runs/${model.run_id}?turn=${placeOf(one)}`;
  return (
    <div class="grid-cell">
      <div class="grid-cell-head">
        <Link
          href={addressOf(turn)}
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
              const own = one === turn ? "own" : "";
              return (
                <Link
                  key={one.attempt_id}
                  href={addressOf(one)}
                  class={`${tone} ${own}`}
                  aria-label={`Attempt ${one.attempt_id}: ${label}`}
                >
                  {sign}
                </Link>
              );
            })}
          </span>
        )}
      </div>
      {error
        ? <div class="bad-text" dir="auto">{errorText(error.detail)}</div>
        : hasMarkup(agent_reply)
        ? <RichText text={agent_reply} />
        : (
          <DiffText
            before={reference || agent_reply}
            after={agent_reply}
            side="after"
            wrong={wrong_values}
          />
        )}
      <Reasons turn={turn} />
      {!error && source.isLive && <Prefer runId={model.run_id} turn={turn} />}
    </div>
  );
}

/** The result of the turn; how often it passes, if only some of its attempts do. */
function describeResult(turn: TurnRow, attempts: TurnRow[]): { label: string; tone: string } {
  const passed = attempts.filter(({ outcome }) => outcome === "passed").length;
  if (passed === 0 || passed === attempts.length) return RESULTS[resultOf(turn)];
  return { label: `${formatCount(passed)} of ${formatCount(attempts.length)} pass`, tone: "" };
}

/** By run: the places of the replies that this person prefers. */
const preferred = new Map<string, Promise<Set<string>>>();

async function readPreferred(runId: string): Promise<Set<string>> {
  const author = readChoice<string>(AUTHOR) ?? "";
  const { grades } = await listGrades(runId, { limit: 1_000 });
  return new Set(
    grades.filter((grade) => grade.label === PREFERRED && (grade.author ?? "") === author)
      .map((grade) => placeOf(grade)),
  );
}

/** Says that a reply is better than the others; kept as a person's grade. */
function Prefer({ runId, turn }: { runId: string; turn: TurnRow }) {
  const place = placeOf(turn);
  const isOn = useSignal(false);
  useLoaded(async () => {
    if (!preferred.has(runId)) preferred.set(runId, readPreferred(runId));
    isOn.value = (await preferred.get(runId)!).has(place);
  }, [runId, place]);
  const change = (isWanted: boolean) =>
    tryAction(async () => {
      const author = readChoice<string>(AUTHOR) ?? "";
      isOn.value = isWanted;
      preferred.delete(runId);
      if (isWanted) {
        await gradeTurn(runId, place, { value: 1, label: PREFERRED, ...(author && { author }) });
        return "Saved as a grade.";
      }
      await deleteGrade(runId, place, author);
      return "The grade is deleted.";
    });
  return (
    <label class="prefer muted small">
      <input
        type="checkbox"
        checked={isOn.value}
        onChange={({ currentTarget: { checked } }) => change(checked)}
      />
      prefer this reply
    </label>
  );
}

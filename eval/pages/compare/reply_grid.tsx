import { useSignal } from "@preact/signals";
import { DiffText } from "../../../shared/pages/components/diff_text.tsx";
import { Link } from "../../../shared/pages/components/link.tsx";
import { hasMarkup, RichText } from "../parts/rich_text.tsx";
import { TableFrame } from "../../../shared/pages/components/data_table.tsx";
import {
  formatCount,
  formatDuration,
  formatNumberOf,
  formatScore,
} from "../../../shared/pages/format.ts";
import { readChoice } from "../../../shared/pages/storage.ts";
import type { ComparedRun, Comparison } from "../../compare/compare_stored.ts";
import type { TurnRow } from "../../run/events/turn_view.ts";
import { deleteGrade, gradeTurn, listGrades } from "../api.ts";
import { AUTHOR } from "../grades/grading.tsx";
import { Shown, useLoaded } from "../loaded.tsx";
import { Select } from "../parts/fields.tsx";
import { readPages, usePages } from "../parts/paging.tsx";
import { Marks, Reasons } from "../run/reply_rows.tsx";
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
const ORDERS: [value: string, label: string][] = [
  ["spread", "where models differ most first"],
  ["position", "in the order of the test"],
];
/** The label of a grade that marks the better reply. */
const PREFERRED = "preferred";

/** What each model replied at one turn; in the order of the models. */
interface GridRow {
  turns: (TurnRow | undefined)[];
  first: TurnRow;
  /** The largest difference between two models' scores. */
  spread: number;
}

/** Every scenario with the replies of all models beside each other. */
export function ReplyGrid({ comparison }: { comparison: Comparison }) {
  const order = useSignal("spread");
  const { runs: models, status } = comparison;
  const key = models.map(({ run_id }) => run_id).join();
  const { loaded, more } = usePages(
    async (count) => {
      const all = await Promise.all(models.map(({ run_id }) => readTurns(run_id, count)));
      return { rows: toRows(all.map(({ rows }) => rows)), hasMore: all.some((one) => one.hasMore) };
    },
    [key, status],
  );
  return (
    <Shown loaded={loaded} what="the replies">
      {({ rows, hasMore }) => (
        <>
          <div class="reply-tools">
            <span class="muted small">
              {`${hasMore ? "The first " : ""}${formatNumberOf(rows.length, "turn")}`}
              {models.some(({ attempts }) => attempts > 1) &&
                ". Each cell shows attempt 1, whose mark is underlined."}
            </span>
            <span class="spacer" />
            <Select
              aria-label="Order"
              options={ORDERS}
              value={order.value}
              onChoose={(value) => order.value = value}
            />
          </div>
          <TableFrame label="Replies by model" class="reply-grid">
            <thead>
              <tr>
                <th scope="col">Scenario and reference</th>
                {models.map((model) => (
                  <ModelHead
                    key={model.run_id}
                    model={model}
                    comparison={comparison}
                  />
                ))}
              </tr>
            </thead>
            <tbody>
              {sorted(rows, order.value).map((row) => (
                <Row key={placeOf(row.first)} row={row} models={models} />
              ))}
            </tbody>
          </TableFrame>
          {more}
        </>
      )}
    </Shown>
  );
}

function readTurns(runId: string, count: number) {
  const read = (cursor: string | undefined) =>
    source.turns(runId, {
      attempt_id: 1,
      sort: "position",
      siblings: "true",
      fields: "user_message,reference_reply,agent_reply,error,wrong_values",
      max_chars: EXCERPT,
      limit: PAGE,
      cursor,
    });
  return readPages("turns", read, count);
}

function toRows(columns: TurnRow[][]): GridRow[] {
  const places = new Map<string, (TurnRow | undefined)[]>();
  for (const [column, turns] of columns.entries()) {
    const met = new Map<string, number>();
    for (const turn of turns) {
      const place = JSON.stringify([turn.scenario_id, turn.turn]);
      const copy = met.get(place) ?? 0; // ids may repeat
      met.set(place, copy + 1);
      const key = `${place} ${copy}`;
      const row = places.get(key) ?? new Array(columns.length).fill(undefined);
      row[column] = turn;
      places.set(key, row);
    }
  }
  return [...places.values()].map((turns) => {
    const known = turns.flatMap((turn) => turn?.scores.overall ?? []);
    const first = turns.find((turn) => turn !== undefined)!;
    return {
      turns,
      first,
      spread: known.length > 1 ? Math.max(...known) - Math.min(...known) : 0,
    };
  });
}

function sorted(rows: GridRow[], order: string): GridRow[] {
  if (order === "spread") return rows.toSorted((a, b) => b.spread - a.spread);
  return rows.toSorted((a, b) =>
    a.first.scenario - b.first.scenario || a.first.turn - b.first.turn
  );
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

function Row({ row: { turns, first }, models }: { row: GridRow; models: ComparedRun[] }) {
  const said = saidAt(first);
  const best = Math.max(...turns.flatMap((turn) => turn?.scores.overall ?? []));
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
      {models.map((model, index) => (
        <td key={model.run_id} data-label={model.name}>
          {turns[index]
            ? (
              <Cell
                turn={turns[index]!}
                model={model}
                reference={said.reference_reply ?? ""}
                isWinner={turns[index]!.scores.overall === best}
              />
            )
            : <span class="muted">not asked</span>}
        </td>
      ))}
    </tr>
  );
}

function Cell({ turn, model, reference, isWinner }: {
  turn: TurnRow;
  model: ComparedRun;
  reference: string;
  isWinner: boolean;
}) {
  const { label, tone } = describeResult(turn);
  const { agent_reply = "", error, wrong_values } = saidAt(turn);
  const address = `/ui/runs/${model.run_id}?turn=${placeOf(turn)}`;
  return (
    <div class="grid-cell">
      <div class="grid-cell-head">
        <Link href={address} aria-label={`${label}: open the turn`} class={`badge ${tone}`}>
          {label}
        </Link>
        <span class="muted small">
          {!error && (isWinner
            ? <strong title="the highest score">{formatScore(turn.scores.overall)}</strong>
            : formatScore(turn.scores.overall))}
          {turn.attempts && turn.attempts.length > 1 && (
            <Marks outcomes={turn.attempts} own={turn.attempt_id} />
          )}
        </span>
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
      {!error && <Prefer runId={model.run_id} turn={turn} />}
    </div>
  );
}

/** The result of the turn; how often it passes, if only some of its attempts do. */
function describeResult(turn: TurnRow): { label: string; tone: string } {
  const { attempts = [] } = turn;
  const passed = attempts.filter((outcome) => outcome === "passed").length;
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

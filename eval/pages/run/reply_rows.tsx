import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { DiffText } from "../../../shared/pages/components/diff_text.tsx";
import { Link } from "../../../shared/pages/components/link.tsx";
import { hasMarkup, RichText } from "../parts/rich_text.tsx";
import { formatCount, formatScore } from "../../../shared/pages/format.ts";
import { navigate, query } from "../../../shared/pages/location.ts";
import { useIsPrinting } from "./printing.ts";
import type { TurnRow } from "../../run/turn_view.ts";
import { errorText, placeOf, resultOf, RESULTS, saidAt } from "../words.ts";
import type { TurnList } from "./turn/turn_list.ts";
import { isPlain, LINES, readLines } from "./turn/turn_query.ts";
import { useVirtualRows } from "./virtual_rows.ts";

/** The most rows on paper: more take too long to draw. */
const MOST_PRINTED = 1_000;
/** After the first rows, the others are fetched, so that they can be printed. */
const BEFORE_PRINTING_MS = 1_000;

/**
 * Only the rows in sight are in the page, however many turns there are. On paper all fetched rows are
 * shown, and a line says how many are missing.
 */
export function ReplyRows({ list, of, isRunning }: {
  list: TurnList;
  isRunning: boolean;
  /** The filters and the order. */
  of: string;
}) {
  const content = useRef<HTMLDivElement>(null);
  const rows = list.rows.value;
  const count = list.total.value ?? rows.length + (list.isComplete.value ? 0 : 1);
  const lines = readLines();
  const estimate = LINES[lines];
  const shown = `${of} ${lines} ${isPlain()}`;
  const virtual = useVirtualRows(content, { count, estimate, of: shown });
  useEffect(() => void list.reach(virtual.end - 1), [list, virtual.end]);
  useEffect(() => { // a browser does not wait for what it prints
    if (isRunning || rows.length === 0) return;
    const timer = setTimeout(() => list.reach(MOST_PRINTED - 1), BEFORE_PRINTING_MS);
    return () => clearTimeout(timer);
  }, [list, isRunning, rows.length === 0]);
  const isPrinting = useIsPrinting();
  const { first, end } = isPrinting
    ? { first: 0, end: Math.min(rows.length, MOST_PRINTED) }
    : virtual;
  const indexes = Array.from({ length: end - first }, (_, row) => first + row);
  return (
    <div
      class={`turns lines-${lines}`}
      role="table"
      aria-label="Replies"
      aria-rowcount={count + 1}
    >
      <div class="turn-row head" role="row" aria-rowindex={1}>
        <span role="columnheader">Result</span>
        <span role="columnheader">Question and reference</span>
        <span role="columnheader">Reply</span>
        <span role="columnheader">Where</span>
      </div>
      <div
        class="turn-rows"
        ref={content}
        role="rowgroup"
        style={{ height: `${virtual.height}px` }}
      >
        {indexes.map((index) => (
          <div
            key={`${shown} ${index}`} // another row is measured, also if it has the height of the last
            class="turn-row"
            role="row"
            aria-rowindex={index + 2}
            data-index={index}
            ref={virtual.measure}
            style={{ top: `${virtual.topOf(index)}px` }}
            onClick={(event) => {
              const turn = rows[index];
              if (turn && isOfRow(event)) navigate(turnAddress(turn));
            }}
          >
            {rows[index]
              ? <Row turn={rows[index]!} isAll={lines === "all"} />
              : <span class="muted" role="cell">Loading…</span>}
          </div>
        ))}
      </div>
      {isPrinting && end < count && (
        <p class="muted small">
          The first {formatCount(end)} of {formatCount(count)} turns. An export has all of them.
        </p>
      )}
    </div>
  );
}

/** A click on a row opens it, unless it was for something in it or ends a selection. */
function isOfRow({ target }: Event): boolean {
  const isControl = target instanceof Element && target.closest("a, button, summary, input");
  return !isControl && globalThis.getSelection()?.isCollapsed !== false;
}

/** The address of a turn, with the filters and the order of the list. */
export function turnAddress(turn: TurnRow): string {
  const parameters = new URLSearchParams(query.value);
  parameters.set("turn", placeOf(turn));
  return `?${parameters}`;
}

function Row({ turn, isAll }: { turn: TurnRow; isAll: boolean }) {
  const said = saidAt(turn);
  const { label, tone } = RESULTS[resultOf(turn)];
  const { user_message = "", reference_reply = "", agent_reply = "", error, wrong_values } = said;
  const overall = turn.scores.overall;
  return (
    <>
      <span role="cell" class="result">
        <span class={`badge ${tone}`}>{label}</span>
        {!error && typeof overall === "number" && (
          <span class="muted number">{formatScore(overall)}</span>
        )}
      </span>
      <div role="cell" class="asked-for">
        <div class="clamp question" dir="auto">{user_message}</div>
        {reference_reply && (
          <>
            <div class="part-label">Reference</div>
            <Clamp isAll={isAll}>
              <Said
                text={reference_reply}
                other={error ? reference_reply : agent_reply}
                side="before"
                wrong={wrong_values}
              />
            </Clamp>
          </>
        )}
      </div>
      <div role="cell" class="reply">
        <div class="part-label">Reply</div>
        {error
          ? <div class="bad-text" dir="auto">Request failed: {errorText(error.detail)}</div>
          : agent_reply
          ? (
            <Clamp isAll={isAll}>
              <Said
                text={agent_reply}
                other={reference_reply || agent_reply}
                side="after"
                wrong={wrong_values}
              />
            </Clamp>
          )
          : <span class="muted">(empty)</span>}
        <Reasons turn={turn} />
      </div>
      <span role="cell" class="where">
        {turn.attempts && turn.attempts.length > 1 && (
          <Marks outcomes={turn.attempts} own={turn.attempt_id} />
        )}
        <Link class="name small" href={turnAddress(turn)}>
          <span dir="auto">{turn.scenario_id}</span>
          {`, turn ${turn.turn + 1}`}
          {turn.attempts && `, attempt ${turn.attempt_id}`}
        </Link>
      </span>
    </>
  );
}

function Clamp({ isAll, children }: { isAll: boolean; children: ComponentChildren }) {
  return <div class={isAll ? "" : "clamp"}>{children}</div>;
}

/** A text with what the other one lacks marked; as Markdown if it has any and the person wants it. */
export function Said({ text, other, side, wrong }: {
  text: string;
  other: string;
  side: "before" | "after";
  wrong: string[] | undefined;
}) {
  if (!isPlain() && hasMarkup(text)) return <RichText text={text} />;
  const [before, after] = side === "before" ? [text, other] : [other, text];
  return <DiffText before={before} after={after} side={side} wrong={wrong} />;
}

/** The result of a turn in each attempt. */
export function Marks(
  { outcomes, own }: { outcomes: (TurnRow["outcome"] | null)[]; own?: number },
) {
  const words = outcomes.map((outcome) => outcome ? RESULTS[outcome].label : "not asked yet");
  return (
    <span class="marks" role="img" aria-label={`Attempts: ${words.join(", ")}`}>
      {outcomes.map((outcome, index) => (
        <span
          key={index}
          class={`${outcome ? RESULTS[outcome].tone : ""} ${own === index + 1 ? "own" : ""}`}
        >
          {outcome ? RESULTS[outcome].sign : "…"}
        </span>
      ))}
    </span>
  );
}

/** Why a turn does not pass, the most certain cause first. */
export function Reasons({ turn: { why, error } }: { turn: TurnRow }) {
  if (error || !why) return null; // the page says why a call failed in place of the reply
  const text = why.join(" · ");
  return <div class="why" dir="auto" title={text}>{text}</div>;
}

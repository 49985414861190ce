import { useEffect, useRef } from "preact/hooks";
import { Link } from "../../../shared/pages/components/link.tsx";
import { formatCount } from "../../../shared/pages/format.ts";
import { leftAt, query } from "../../../shared/pages/location.ts";
import { useIsPrinting } from "../../../shared/pages/printing.ts";
import { scrollBackTo } from "../../../shared/pages/scroll_back.ts";
import type { TurnRow } from "../../run/events/turn_view.ts";
import { SortButton, sortOrder } from "../sort_button.tsx";
import { placeOf } from "../words.ts";
import type { TurnColumn } from "./turn_columns.tsx";
import type { TurnList } from "./turn_list.ts";
import { WORST_FIRST } from "./turn_query.ts";
import { useVirtualRows } from "./virtual_rows.ts";

const ROW_HEIGHT = 36;
/** The row of headers and the frame. */
const HEAD_HEIGHT = ROW_HEIGHT + 2;
/** More take too long to draw. */
const MOST_PRINTED = 1_000;
const SCENARIO: Pick<TurnColumn, "label" | "sort" | "width"> = {
  label: "Scenario",
  sort: "position",
  width: "minmax(160px, 1.5fr)",
};

/**
 * Only the rows in sight are in the page, however many turns there are. On paper are all that have been
 * fetched, and a line says how many are not.
 */
export function TurnsTable({ list, of, columns }: {
  list: TurnList;
  /** The filters and the order; others begin at the top. */
  of: string;
  columns: TurnColumn[];
}) {
  const frame = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  useEffect(() => {
    frame.current!.scrollTop = 0;
    const top = leftAt()?.inner ?? 0;
    if (top === 0) return;
    return scrollBackTo(top, { scroller: frame.current!, content: content.current! });
  }, [of]);
  const rows = list.rows.value;
  const count = list.total.value ?? rows.length + (list.isComplete.value ? 0 : 1);
  const inSight = useVirtualRows(frame, { count, rowHeight: ROW_HEIGHT });
  useEffect(() => void list.reach(inSight.end - 1), [list, inSight.end]);
  const isPrinting = useIsPrinting();
  const printed = { first: 0, end: Math.min(rows.length, MOST_PRINTED) };
  const { first, end } = isPrinting ? printed : inSight;
  const indexes = Array.from({ length: end - first }, (_, row) => first + row);
  const gridTemplateColumns = [SCENARIO, ...columns].map(({ width }) => width).join(" ");
  return (
    <div
      class="turns"
      ref={frame}
      data-scroller
      role="table"
      aria-label="Turns"
      aria-rowcount={count + 1}
      tabIndex={0}
      style={{ height: `min(72vh, 760px, ${inSight.height + HEAD_HEIGHT}px)` }}
    >
      <div class="turn-row head" role="row" aria-rowindex={1} style={{ gridTemplateColumns }}>
        <SortHeader {...SCENARIO} />
        {columns.map((column) => <SortHeader key={column.name} {...column} />)}
      </div>
      <div
        class="turn-rows"
        ref={content}
        role="rowgroup"
        style={{ height: `${inSight.height}px` }}
      >
        {indexes.map((index) => {
          const turn = rows[index];
          return turn
            ? (
              <Row
                key={index}
                turn={turn}
                columns={columns}
                index={index}
                gridTemplateColumns={gridTemplateColumns}
              />
            )
            : (
              <div
                key={index}
                class="turn-row"
                role="row"
                aria-rowindex={index + 2}
                style={{ gridTemplateColumns, top: topOf(index) }}
              >
                <span class="muted" role="cell">Loading…</span>
              </div>
            );
        })}
      </div>
      {isPrinting && end < count && (
        <p class="muted small">
          The first {formatCount(end)} of {formatCount(count)} turns. An export has all of them.
        </p>
      )}
    </div>
  );
}

function SortHeader({ label, sort, isNumber }: Pick<TurnColumn, "label" | "sort" | "isNumber">) {
  const order = sortOrder(sort, WORST_FIRST);
  return (
    <span role="columnheader" class={isNumber ? "number" : ""} aria-sort={order}>
      {sort ? <SortButton label={label} sort={sort} order={order} first="ascending" /> : label}
    </span>
  );
}

function topOf(index: number): string {
  return `${index * ROW_HEIGHT}px`;
}

/** The address of a turn, with the filters and the order of the table. */
export function turnAddress(turn: TurnRow): string {
  const parameters = new URLSearchParams(query.value);
  parameters.set("turn", placeOf(turn));
  return `?${parameters}`;
}

/** Its properties stay the same while the list scrolls, so that it is not rendered again. */
function Row({ turn, columns, index, gridTemplateColumns }: {
  turn: TurnRow;
  columns: TurnColumn[];
  index: number;
  gridTemplateColumns: string;
}) {
  return (
    <div
      class="turn-row"
      role="row"
      aria-rowindex={index + 2}
      style={{ gridTemplateColumns, top: topOf(index) }}
    >
      <span role="cell" class="name">
        <Link href={turnAddress(turn)}>
          <span dir="auto">{turn.scenario_id}</span>{" "}
          <span class="muted">{`#${turn.attempt_id}.${turn.turn + 1}`}</span>
        </Link>
      </span>
      {columns.map(({ name, isNumber, cell }) => (
        <span key={name} role="cell" class={isNumber ? "number" : "excerpt"}>{cell(turn)}</span>
      ))}
    </div>
  );
}

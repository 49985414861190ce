import type { ComponentChildren, RefObject } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { Term } from "./tip.tsx";

/** A column of a table. The first one names its row. */
export interface Column<Row> {
  label: string;
  isNumber?: boolean;
  /** The definition of the label. */
  means?: string | undefined;
  /** Takes the remaining width: for charts. */
  isWide?: boolean;
  /** The label is only read aloud. */
  isLabelHidden?: boolean;
  /** Hidden on a narrow screen. */
  isMinor?: boolean;
  cell: (row: Row, index: number) => ComponentChildren;
}

/** Rows of one kind in a table that scrolls by itself. `keyOf` tells rows apart. */
export function DataTable<Row>({ label, columns, rows, keyOf, isChosen, isFlat, class: name }: {
  label: string;
  columns: (Column<Row> | false)[];
  rows: Row[];
  keyOf: (row: Row) => string | number;
  isChosen?: (row: Row) => boolean;
  isFlat?: boolean;
  class?: string;
}) {
  const shown = columns.filter((column) => column !== false);
  return (
    <TableFrame label={label} isFlat={isFlat} class={name}>
      <thead>
        <tr>
          {shown.map((column) => (
            <th key={column.label} scope="col" class={classOf(column)}>
              {column.isLabelHidden
                ? <span class="visually-hidden">{column.label}</span>
                : column.means
                ? <Term means={column.means}>{column.label}</Term>
                : column.label}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row, index) => (
          <tr key={keyOf(row)} class={isChosen?.(row) ? "chosen" : ""}>
            {shown.map((column, position) =>
              position === 0
                ? <th key={column.label} scope="row">{column.cell(row, index)}</th>
                : <td key={column.label} class={classOf(column)}>{column.cell(row, index)}</td>
            )}
          </tr>
        ))}
      </tbody>
    </TableFrame>
  );
}

function classOf(
  { isNumber, isWide, isLabelHidden, isMinor }: Omit<Column<never>, "cell">,
): string {
  const kind = isNumber ? "number" : isWide ? "wide" : isLabelHidden ? "actions-cell" : "";
  return isMinor ? `${kind} wide-only` : kind;
}

/** A frame in which a table scrolls by itself; by keyboard too, so it has a name. */
export function TableFrame({ label, isFlat, class: name, children }: {
  label: string;
  /** Without a border, inside a card. */
  isFlat?: boolean | undefined;
  /** Of the table. */
  class?: string | undefined;
  children: ComponentChildren;
}) {
  const table = useRowFocus<HTMLTableElement>("tr");
  return (
    <div
      class={isFlat ? "table-frame flat" : "table-frame"}
      role="region"
      aria-label={label}
      tabIndex={0}
    >
      <table class={name} ref={table}>{children}</table>
    </div>
  );
}

/**
 * Moves the focus when the row that has it is removed, because what it showed was deleted: to the last
 * control of the row that takes its place, to the first of the list if no row is left, or to the view
 * if the list is removed. `rows` selects the rows inside the element that gets the reference.
 */
export function useRowFocus<T extends HTMLElement>(rows: string): RefObject<T | null> {
  const list = useRef<T>(null);
  const { activeElement } = document;
  const row = list.current?.contains(activeElement) ? activeElement!.closest(rows) : null;
  const readRows = () => [...list.current!.querySelectorAll(rows)];
  const index = row ? readRows().indexOf(row) : 0; // it has none once it is gone
  useLayoutEffect(() => {
    if (!row || row.isConnected) return;
    if (!list.current) return focusView();
    const left = readRows();
    const next = left[index] ?? left[index - 1];
    const controls = (next ?? list.current).querySelectorAll<HTMLElement>("a, button, summary");
    controls[next ? controls.length - 1 : 0]?.focus();
  });
  useLayoutEffect(() => {
    const shown = list.current;
    return () => {
      if (shown?.contains(document.activeElement)) focusView();
    };
  }, []);
  return list;
}

function focusView(): void {
  document.getElementById("main")?.focus({ preventScroll: true });
}

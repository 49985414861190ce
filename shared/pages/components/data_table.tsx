import type { ComponentChildren } from "preact";
import { TableFrame } from "./table_frame.tsx";
import { Term } from "./tip.tsx";

/** A column of a table. The first one names its row. */
export interface Column<Row> {
  label: string;
  isNumber?: boolean;
  /** The definition of the label. */
  means?: string | undefined;
  /** Takes the room that the others leave: for pictures. */
  isWide?: boolean;
  /** The label is only read aloud. */
  isLabelHidden?: boolean;
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

function classOf({ isNumber, isWide, isLabelHidden }: Pick<
  Column<unknown>,
  "isNumber" | "isWide" | "isLabelHidden"
>): string {
  return isNumber ? "number" : isWide ? "wide" : isLabelHidden ? "actions-cell" : "";
}

import { DataTable } from "../../../shared/pages/components/data_table.tsx";
import { formatCount, formatScore } from "../../../shared/pages/format.ts";
import type { Cell, Kind, Line, Table } from "../../report/sections.ts";
import { DifferenceChart, reachOf } from "../charts/difference.tsx";
import { ScoreName } from "../glossary.tsx";
import { differenceText } from "../words.ts";

/** A table of a report, with charts of its intervals. */
export function ReportTable({ label, table: { columns, rows } }: { label: string; table: Table }) {
  return (
    <DataTable
      label={label}
      isFlat
      rows={rows}
      keyOf={(row) => rows.indexOf(row)}
      columns={columns.map(({ key, kind, label }) => {
        const isWide = kind === "interval of a difference";
        return {
          label: `${label}`.charAt(0).toUpperCase() + label.slice(1),
          isWide,
          isNumber: !isWide && kind !== "words",
          cell: (row: Table["rows"][number]) =>
            showCell(row[key], { kind, all: rows.map((other) => other[key]) }),
        };
      })}
    />
  );
}

/** Texts of others and names of scores in a line of words. */
export function Words({ line }: { line: Line }) {
  return (
    <>
      {line.map((span, index) => {
        if (typeof span === "string") return span;
        if ("message" in span) return <span key={index} dir="auto">{span.message}</span>;
        if (span.isScore) return <ScoreName key={index} name={span.name} />;
        return <bdi key={index}>{span.name}</bdi>;
      })}
    </>
  );
}

// deno-lint-ignore no-explicit-any -- the kind of the column says what its cells are
function showCell(cell: any, { kind, all }: { kind: Kind; all: Cell[] }) {
  switch (kind) {
    case "score":
      return formatScore(cell);
    case "count":
      return formatCount(cell);
    case "difference":
      return differenceText(cell);
    case "interval of a difference": {
      const ends = (all as typeof cell[]).flatMap(({ difference, ci95 }) => [
        difference,
        ...ci95 ?? [],
      ]);
      return <DifferenceChart mean={cell.difference} ci95={cell.ci95} reach={reachOf(ends)} />;
    }
    default:
      return Array.isArray(cell) ? <Words line={cell} /> : cell;
  }
}

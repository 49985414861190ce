import { formatP } from "../../test/rounding.ts";
import type { Cell, Kind, Line, Section, Table } from "../sections.ts";
import { showCost, showDifference, showInterval, showScore, type TextForm } from "./text_form.ts";

/** A report as text. */
export function renderText(sections: Section[], form: TextForm): string {
  const text = (line: Line) => lineText(line, form);
  return sections.map(({ title, isHead, table, lines = [], items = [] }) => {
    const blank = table && lines.length > 0 ? "\n" : "";
    return (title ? form.title(text(title), isHead ? 1 : 2) : "\n") +
      (table ? tableText(table, form) : "") + blank +
      form.lines(lines.map(text)) +
      items.map(({ line, below }) => form.item(text(line), below.map(text))).join("");
  }).join("");
}

function lineText(line: Line, form: TextForm): string {
  return line.map((span) => {
    if (typeof span === "string") return span;
    return "name" in span ? form.name(span.name) : form.message(span.message);
  }).join("");
}

function tableText({ columns, rows }: Table, form: TextForm): string {
  return form.table(
    columns.map(({ label }) => Array.isArray(label) ? lineText(label, form) : label),
    rows.map((row) => columns.map(({ key, kind }) => cellText(kind, row[key], form))),
  );
}

// deno-lint-ignore no-explicit-any -- the kind of the column says what its cells are
const SHOWN: Record<Exclude<Kind, "words">, (cell: any) => string> = {
  score: showScore,
  rate: showScore,
  interval: (cell) => showInterval(cell?.ci95, showScore),
  difference: showDifference,
  "interval of a difference": (cell) => showInterval(cell.ci95),
  count: (cell) => `${cell ?? "–"}`,
  ms: (cell) => typeof cell === "number" ? `${Math.round(cell)} ms` : "–",
  money: (cell) => cell ? showCost(cell) : "–",
  p: (cell) => cell === undefined ? "" : formatP(cell),
};

/** A value of a table in words. */
function cellText(kind: Kind, cell: Cell, form: TextForm): string {
  if (kind !== "words") return SHOWN[kind](cell);
  return lineText(Array.isArray(cell) ? cell : [`${cell ?? ""}`], form);
}

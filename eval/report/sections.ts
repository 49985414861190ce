import type { ScoreComparison } from "../figures/comparison.ts";
import type { CostSum } from "../test/cost.ts";
import type { Statistic } from "../test/statistics.ts";

/** A text of others, which renderers make harmless. */
export interface Name {
  name: string;
  /** A score, which pages call by plainer words. */
  isScore?: true;
}

/** Words of ours, or a text of others; of a message the end is as important as the start. */
export type Span = string | Name | { message: string };
export type Line = Span[];

export const name = (name: string): Line => [{ name }];
export const scoreName = (name: string): Line => [{ name, isScore: true }];
export const message = (message: string): Line => [{ message }];

/** A line; numbers, names and messages keep their place in it. */
export function say(words: TemplateStringsArray, ...values: (string | number | Line)[]): Line {
  return words.flatMap((text, index) => {
    const value = values[index] ?? "";
    return [text, ...Array.isArray(value) ? value : [String(value)]];
  });
}

/** Lines as one. */
export function joined(lines: Line[], separator: string): Line {
  return lines.flatMap((line, index) => index === 0 ? line : [separator, ...line]);
}

/** Those that there are. */
export function kept<T>(items: (T | false | undefined | null)[]): T[] {
  return items.filter((item): item is T => Boolean(item));
}

/** The first lines, and how many more things there are. */
export function firstLines(lines: Line[], { most, noun }: { most: number; noun: string }): Line[] {
  const more = lines.length - most;
  if (more <= 0) return lines;
  return [...lines.slice(0, most), [`and ${more} more ${noun}${more === 1 ? "" : "s"}`]];
}

/** What a cell's value is. */
export type Kind =
  | "words"
  | "score"
  | "rate"
  | "interval"
  | "difference"
  | "interval of a difference"
  | "count"
  | "ms"
  | "money"
  | "p";

type Mean = Pick<Statistic, "mean" | "ci95">;
type Compared = Pick<ScoreComparison, "difference" | "ci95">;
export type Cell =
  | string
  | number
  | Line
  | Mean
  | Compared
  | CostSum
  | null
  | undefined;

interface Figure {
  label: string;
  kind: Kind;
  /** Left out if it is 0 everywhere. */
  isRare?: true;
}

/** The figures of reports: every channel names them alike. */
export const FIGURES = {
  score: { label: "score", kind: "words" },
  mean: { label: "mean", kind: "score" },
  overall: { label: "overall", kind: "score" },
  interval: { label: "95% interval", kind: "interval" },
  turns: { label: "turns", kind: "count" },
  missing: { label: "missing", kind: "count", isRare: true },
  missing_scores: { label: "missing scores", kind: "count", isRare: true },
  failed: { label: "failed calls", kind: "count", isRare: true },
  check: { label: "check", kind: "words" },
  required: { label: "required", kind: "words" },
  met: { label: "met", kind: "count" },
  unmet: { label: "not met", kind: "count" },
  undecided: { label: "missing", kind: "count" },
  scenario: { label: "scenario", kind: "words" },
  below: { label: "turns that do not pass", kind: "words" },
  baseline: { label: "before", kind: "score" },
  candidate: { label: "now", kind: "score" },
  difference: { label: "difference", kind: "difference" },
  difference_interval: { label: "95% interval", kind: "interval of a difference" },
  p: { label: "p", kind: "p" },
  model: { label: "model", kind: "words" },
  pass_rate: { label: "pass rate", kind: "rate" },
  failed_calls: { label: "failed calls", kind: "count" },
  latency: { label: "median latency", kind: "ms" },
  tokens: { label: "output tokens", kind: "count" },
  truncated: { label: "replies cut off", kind: "count" },
  cost: { label: "cost", kind: "money" },
  pair: { label: "difference of", kind: "words" },
  better: { label: "better", kind: "words" },
} as const satisfies Record<string, Figure>;
type FigureName = keyof typeof FIGURES;

export interface Column extends Omit<Figure, "label"> {
  key: string;
  label: string | Line;
}

/** The first column names its row. */
export interface Table {
  columns: Column[];
  rows: Record<string, Cell>[];
}

/** A table of figures, or of others that are given; without columns that no row has. */
export function tableOf(
  columns: (FigureName | Column)[],
  rows: Record<string, Cell>[],
): Table {
  const isThere = ({ key, isRare }: Column) =>
    rows.some((row) => isRare ? row[key] : row[key] !== undefined);
  const all = columns.map((column): Column =>
    typeof column === "string" ? { key: column, ...FIGURES[column] } : column
  );
  return { columns: all.filter((column, index) => index === 0 || isThere(column)), rows };
}

/** A part of a report. */
export interface Section {
  title?: Line;
  /** The title of the whole. */
  isHead?: true;
  table?: Table;
  /** Below the table, if there is one. */
  lines?: Line[];
  /** Lines with lines below them. */
  items?: { line: Line; below: Line[] }[];
}

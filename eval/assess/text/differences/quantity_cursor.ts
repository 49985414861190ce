import type { Language } from "./language.ts";
import type { Token } from "./tokens.ts";
import type { Unit } from "./units.ts";

/** Something countable that a text says. */
export interface Quantity {
  kind: "number" | "unit" | "money" | "time" | "date";
  /** What it may mean: minutes after midnight for `time`; see `part` for `date`. */
  values: number[];
  /** It may agree with another, but is no ground to say that two texts differ. */
  isSoft: boolean;
  unit?: Unit;
  currencies?: string[];
  /** Of a date: month × 100 + day, the year, and so on. Only like parts are compared. */
  part?: "day" | "year" | "month" | "weekday" | "relative";
}

/** Marks that follow a number without a blank: 3rd, 1er. */
export const SUFFIXES = new Set(["st", "nd", "rd", "th", "er", "ème", "e", "º", "ª"]);

/** A text's tokens while its quantities are read, and what was found so far. */
export class QuantityCursor {
  readonly found: Quantity[] = [];

  constructor(readonly tokens: readonly Token[], readonly language: Language) {}

  add(kind: Quantity["kind"], values: number[], more: Partial<Quantity> = {}): void {
    this.found.push({ kind, values, isSoft: false, ...more });
  }

  /** The text of a token; `""` beyond the ends. */
  word(at: number): string {
    return this.tokens[at]?.text ?? "";
  }
}

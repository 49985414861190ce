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
  /** It says a place or a part, not how many: "the fifth", "3rd", the two of "two thirds". */
  isOrdinal?: boolean;
  unit?: Unit;
  currencies?: string[];
  /** Of a date: month × 100 + day, the year, and so on. Only like parts are compared. */
  part?: "day" | "year" | "month" | "weekday" | "relative";
}

/** Marks that follow a number without a blank: 3rd, 1er. */
export const SUFFIXES = new Set(["st", "nd", "rd", "th", "er", "ème", "e", "º", "ª"]);

/** What stands between the parts of "1 hour and 30 minutes". */
const JOINTS = new Set([",", "and", "und", "et", "y", "e", "en", "och", "i", "и"]);

/** A text's tokens while its quantities are read, and what was found so far. */
export class QuantityCursor {
  readonly found: Quantity[] = [];
  /** The measure that was read last: where it ends, and what it and those joined to it make. */
  #last: { end: number; unit: Unit; total: number } | undefined;

  constructor(readonly tokens: readonly Token[], readonly language: Language) {}

  add(kind: Quantity["kind"], values: number[], more: Partial<Quantity> = {}): void {
    this.found.push({ kind, values, isSoft: false, ...more });
  }

  /**
   * A number with its unit, from one token to before another. If it goes on with the one before, as
   * in "1 hour 30 minutes", their sum is found too: the other text may say "90 minutes".
   */
  addMeasure(
    values: number[],
    unit: Unit,
    { start, end, isSoft }: { start: number; end: number; isSoft: boolean },
  ): void {
    this.add("unit", values, { unit, isSoft });
    const last = this.#last;
    const isPart = last?.unit.dimension === unit.dimension && last.unit.factor > unit.factor &&
      this.#isJoined(last.end, start);
    const total = values[0]! * unit.factor + (isPart ? last.total : 0);
    if (isPart) {
      this.add("unit", [Number((total / unit.factor).toFixed(9))], { unit, isSoft: true });
    }
    this.#last = { end, unit, total };
  }

  #isJoined(end: number, start: number): boolean {
    return start >= end && this.tokens.slice(end, start).every(({ text }) => JOINTS.has(text));
  }

  /** The text of a token; `""` beyond the ends. */
  word(at: number): string {
    return this.tokens[at]?.text ?? "";
  }
}

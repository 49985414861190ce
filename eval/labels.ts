import type { AttemptResult, InteractionResult, LabelReport } from "../shared/schemas/evaluate.ts";

/** The column of replies in which the annotator found no label. */
const ABSTAINED = "(none)";
/** The column of turns that failed: there was no reply to read a label from. */
const FAILED = "(failed)";

/**
 * For each metadata key, how the expected labels were found again over all attempts of some
 * scenarios, and how often two attempts disagree about the same turn.
 */
export function reportLabels(scenarios: AttemptResult[][]): Record<string, LabelReport> {
  const keys = new Set<string>();
  for (const attempts of scenarios) {
    for (const { reference_metadata } of attempts[0]?.interactions ?? []) {
      for (const key of Object.keys(reference_metadata)) keys.add(key);
    }
  }
  return Object.fromEntries([...keys].map((key) => [key, reportKey(key, scenarios)]));
}

/** The same turn in each attempt, for every turn of every scenario. */
function* turnsOf(scenarios: AttemptResult[][]): Generator<InteractionResult[]> {
  for (const attempts of scenarios) {
    for (const turn of attempts[0]?.interactions.keys() ?? []) {
      yield attempts.map(({ interactions }) => interactions[turn]!);
    }
  }
}

function reportKey(key: string, scenarios: AttemptResult[][]): LabelReport {
  const confusion: LabelReport["confusion"] = {};
  let pairs = 0;
  let flips = 0;
  for (const attempts of turnsOf(scenarios)) {
    const { reference_metadata } = attempts[0]!;
    if (!Object.hasOwn(reference_metadata, key)) continue;
    const found = new Map<string, number>();
    for (const turn of attempts) {
      const label = labelOf(key, turn);
      if (label !== FAILED) found.set(label, (found.get(label) ?? 0) + 1);
      const row = own(confusion, display(reference_metadata[key]), {});
      row[label] = own(row, label, 0) + 1;
    }
    const { all, same } = countPairs([...found.values()]);
    pairs += all;
    flips += all - same;
  }
  return { confusion, flip_rate: pairs === 0 ? null : flips / pairs };
}

/** Pairs of attempts, and how many of them agree; a failed attempt has no say. */
function countPairs(counts: number[]) {
  const choose2 = (count: number) => count * (count - 1) / 2;
  return {
    all: choose2(counts.reduce((sum, count) => sum + count, 0)),
    same: counts.reduce((sum, count) => sum + choose2(count), 0),
  };
}

function labelOf(key: string, turn: InteractionResult): string {
  if (turn.error) return FAILED;
  const value = turn.generated_metadata[key];
  return value === undefined ? ABSTAINED : display(value);
}

/** Labels that match (`<key>_match`) share a row: trimmed, letter case apart. */
function display(value: unknown): string {
  return typeof value === "string" ? value.trim().toLowerCase() : JSON.stringify(value) ?? "null";
}

/** A record's own entry, made where it is missing; a label may be called `constructor`. */
function own<T>(record: Record<string, T>, key: string, initial: T): T {
  if (!Object.hasOwn(record, key)) {
    Object.defineProperty(record, key, {
      value: initial,
      writable: true,
      enumerable: true,
      configurable: true,
    });
  }
  return record[key]!;
}

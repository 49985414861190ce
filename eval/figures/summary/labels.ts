import type { InteractionResult } from "../../test/interaction_result.ts";
import {
  FAILED_LABEL,
  labelKey,
  type LabelReport,
  NO_LABEL,
  type SelfCheck,
} from "../../test/labels.ts";

type LabelledTurn = Pick<
  InteractionResult,
  "error" | "reference_metadata" | "generated_metadata" | "annotation"
>;

interface LabelCount {
  confusion: LabelReport["confusion"];
  pairs: number;
  flips: number;
  counts: number;
  of: number;
  selfCheck?: SelfCheck | undefined;
}

/**
 * For each metadata key, counts expected and found labels over all attempts, and how often two
 * attempts disagree about the same turn. Reads the self-check of the key's annotator, which is the
 * same in every turn of a run.
 */
export function createLabelCounter() {
  const byKey = new Map<string, LabelCount>();
  /** By text, because the same few labels occur in all turns. */
  const names = new Map<string, string>();

  function nameOf(label: unknown): string {
    if (typeof label !== "string") return labelKey(label);
    return names.getOrInsertComputed(label, labelKey);
  }

  /** By `labelKey`, so that labels that match (`<key>_match`) have the same name. */
  function foundLabel(key: string, { error, generated_metadata }: LabelledTurn): string {
    if (error) return FAILED_LABEL;
    const value = Object.hasOwn(generated_metadata, key) ? generated_metadata[key] : undefined;
    return value === undefined ? NO_LABEL : nameOf(value);
  }

  function addTurn(key: string, turns: LabelledTurn[]): void {
    const count = byKey.getOrInsertComputed(key, () => ({
      confusion: {},
      pairs: 0,
      flips: 0,
      counts: 0,
      of: 0,
    }));
    const found = new Map<string, number>();
    count.of++;
    if (turns.every((turn) => noteOf(key, turn)?.counts !== false)) count.counts++;
    for (const turn of turns) {
      count.selfCheck ??= noteOf(key, turn)?.self_check;
      const label = foundLabel(key, turn);
      if (label !== FAILED_LABEL) found.set(label, (found.get(label) ?? 0) + 1);
      const row = own(count.confusion, nameOf(turn.reference_metadata[key]), {});
      row[label] = own(row, label, 0) + 1;
    }
    const { all, same } = countPairs([...found.values()]);
    count.pairs += all;
    count.flips += all - same;
  }

  /** Adds the attempts at one scenario. */
  function add(attempts: { interactions: LabelledTurn[] }[]): void {
    for (let turn = 0;; turn++) {
      // An attempt that was cancelled lacks its last turns.
      const same = attempts.flatMap(({ interactions }) => interactions[turn] ?? []);
      if (same.length === 0) return;
      for (const key of Object.keys(same[0]!.reference_metadata)) addTurn(key, same);
    }
  }

  return {
    add,
    report: (): Record<string, LabelReport> =>
      Object.fromEntries(
        [...byKey].map(([key, { confusion, pairs, flips, counts, of, selfCheck }]) => [
          key,
          {
            confusion,
            flip_rate: pairs === 0 ? null : flips / pairs,
            counts,
            of,
            ...(selfCheck && { self_check: selfCheck }),
          },
        ]),
      ),
  };
}

function noteOf(key: string, { annotation }: LabelledTurn) {
  return annotation && Object.hasOwn(annotation.keys, key) ? annotation.keys[key] : undefined;
}

/** Counts pairs of attempts, and those that agree. */
function countPairs(counts: number[]) {
  const choose2 = (count: number) => count * (count - 1) / 2;
  return {
    all: choose2(counts.reduce((sum, count) => sum + count, 0)),
    same: counts.reduce((sum, count) => sum + choose2(count), 0),
  };
}

/** Gets or creates a record's own entry; a label may be called `constructor`. */
function own<T>(record: Record<string, T>, key: string, initial: T): T {
  if (!Object.hasOwn(record, key)) record[key] = initial; // Deno has no setter called `__proto__`
  return record[key]!;
}

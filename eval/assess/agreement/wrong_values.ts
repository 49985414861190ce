import { readValues, type Value } from "./values.ts";

/** English words for small numbers, so that "three" matches an expected "3". */
const SMALL = ("zero one two three four five six seven eight nine ten eleven twelve thirteen " +
  "fourteen fifteen sixteen seventeen eighteen nineteen twenty").split(" ");

export interface WrongValue {
  /** `number`, `date`, `time`, `code`, `money`, the kind of a unit, or `exchanged`. */
  kind: string;
  /** For people. */
  text: string;
}

const MOST = 5;

/**
 * Describes the values in a reply that replace values of its reference. A value is wrong if it is
 * not in the reference, and the reply lacks one of the same kind that is. A reply that only omits
 * or adds a value has no wrong value.
 */
export function findWrongValues(reply: string, reference: string): WrongValue[] {
  const [expected, found] = [readValues(reference), readValues(reply)];
  const missing = expected.filter((value) => !isIn(value, found) && !isSpelled(value, reply));
  const others = found.filter((value) => !isIn(value, expected) && !isSpelled(value, reference));
  const wrong: WrongValue[] = [];
  for (const value of missing) {
    const at = others.findIndex(({ kind }) => kind === value.kind);
    if (at < 0) continue;
    const [other] = others.splice(at, 1);
    const text = `${other!.text.trim()} instead of ${value.text.trim()}`;
    wrong.push({ kind: value.kind.split(" ")[0]!, text });
  }
  return wrong.slice(0, MOST);
}

/**
 * Rewrites values of the reply that equal one of the reference as the reference spells them: the
 * model considers 1,500 m and 1.5 km to be different lengths.
 */
export function writeValuesAlike(reply: string, reference: string): string {
  const expected = readValues(reference);
  if (expected.length === 0) return reply;
  let result = "";
  let done = 0;
  for (const value of readValues(reply)) {
    const own = expected.find((other) => other.kind === value.kind && value.equals(other));
    if (!own || own.text === value.text) continue;
    result += reply.slice(done, value.start) + own.text;
    done = value.start + value.text.length;
  }
  return result + reply.slice(done);
}

function isIn(value: Value, others: Value[]): boolean {
  return others.some((other) => {
    const isComparable = value.kind === other.kind ||
      value.amounts !== undefined && [value.kind, other.kind].includes("number");
    return isComparable && value.equals(other);
  });
}

function isSpelled({ amounts = [] }: Value, text: string): boolean {
  const lower = text.toLowerCase();
  return amounts.some((amount) =>
    SMALL[amount] !== undefined && new RegExp(`\\b${SMALL[amount]}\\b`).test(lower)
  );
}

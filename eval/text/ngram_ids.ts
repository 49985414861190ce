/** Up to this many combinations a table is faster than a `Map`; short texts stay below it. */
const MAX_TABLE = 1 << 16;

/**
 * The n-grams of two token lists as numbers, equal where the n-grams are, for n = 1, 2, … in turn:
 * an n-gram's number comes from that of its first n − 1 tokens and its last one. Strings would take
 * several times as long, on short texts and on long ones.
 */
export class NgramIds {
  readonly #tokens: readonly [Int32Array, Int32Array];
  readonly #grams: readonly [Int32Array, Int32Array];
  readonly #alphabet: number;
  #distinct: number;
  #order = 1;

  constructor(left: readonly string[], right: readonly string[]) {
    const ids = new Map<string, number>();
    const number = (token: string) => {
      let id = ids.get(token);
      if (id === undefined) ids.set(token, id = ids.size);
      return id;
    };
    this.#tokens = [left, right].map((tokens) => {
      const numbers = new Int32Array(tokens.length);
      for (let i = 0; i < tokens.length; i++) numbers[i] = number(tokens[i]!);
      return numbers;
    }) as [Int32Array, Int32Array];
    this.#grams = [this.#tokens[0].slice(), this.#tokens[1].slice()];
    this.#alphabet = this.#distinct = ids.size;
  }

  /** How many n-grams the lists share, each as often as it occurs in both. */
  countShared(): number {
    const counts = new Int32Array(this.#distinct);
    const [left, right] = this.#grams;
    for (let i = 0; i <= left.length - this.#order; i++) counts[left[i]!]!++;
    let shared = 0;
    for (let i = 0; i <= right.length - this.#order; i++) {
      if (counts[right[i]!]!-- > 0) shared++;
    }
    return shared;
  }

  /** Makes each n-gram one token longer, in place. */
  lengthen(): void {
    this.#order++;
    const number = this.#distinct * this.#alphabet <= MAX_TABLE
      ? createTable(this.#distinct * this.#alphabet)
      : createMap();
    for (const side of [0, 1] as const) {
      const grams = this.#grams[side];
      const tokens = this.#tokens[side];
      for (let i = 0; i <= grams.length - this.#order; i++) {
        grams[i] = number.of(grams[i]! * this.#alphabet + tokens[i + this.#order - 1]!);
      }
    }
    this.#distinct = number.size();
  }
}

/** Numbers combinations from 0 on, in the order in which they are first met. */
interface Numbering {
  of(combination: number): number;
  size(): number;
}

function createTable(combinations: number): Numbering {
  const ids = new Int32Array(combinations); // one more than the number; 0 is "not met yet"
  let size = 0;
  return { of: (combination) => (ids[combination] ||= ++size) - 1, size: () => size };
}

function createMap(): Numbering {
  const ids = new Map<number, number>();
  return {
    of(combination) {
      let id = ids.get(combination);
      if (id === undefined) ids.set(combination, id = ids.size);
      return id;
    },
    size: () => ids.size,
  };
}

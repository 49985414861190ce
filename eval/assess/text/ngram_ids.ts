/** Up to this many combinations a table is faster than a `Map`; short texts stay below it. */
const MAX_TABLE = 1 << 16;
const HIGHEST = 2 ** 31 - 1;

/**
 * The n-grams of two token lists as numbers, equal where the n-grams are, for n = 1, 2, … in turn:
 * an n-gram's number comes from that of its first n − 1 tokens and its last one. Strings would take
 * several times as long, on short texts and on long ones.
 */
export class NgramIds {
  readonly #tokens: readonly [number[], number[]];
  readonly #grams: readonly [number[], number[]];
  readonly #alphabet: number;
  #distinct: number;
  #order = 1;

  static ofWords(left: readonly string[], right: readonly string[]): NgramIds {
    const ids = new Map<string, number>();
    const number = (token: string) => {
      let id = ids.get(token);
      if (id === undefined) ids.set(token, id = ids.size);
      return id;
    };
    return new NgramIds(left.map(number), right.map(number), ids.size);
  }

  /** Tokens are numbers already: code points, say. */
  static ofNumbers(left: readonly number[], right: readonly number[]): NgramIds {
    const highest = Math.max(highestOf(left), highestOf(right));
    const numbering = startNumbering(highest + 1);
    const number = (token: number) => numbering.of(token);
    return new NgramIds(left.map(number), right.map(number), numbering.size);
  }

  private constructor(left: number[], right: number[], distinct: number) {
    this.#tokens = [left, right];
    this.#grams = [left.slice(), right.slice()];
    this.#alphabet = this.#distinct = distinct;
  }

  /** How many n-grams the lists share, each as often as it occurs in both. */
  countShared(): number {
    const counts = startCounts(this.#distinct);
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
    const numbering = startNumbering(this.#distinct * this.#alphabet);
    this.#renumber(this.#grams[0], this.#tokens[0], numbering);
    this.#renumber(this.#grams[1], this.#tokens[1], numbering);
    this.#distinct = numbering.size;
  }

  #renumber(grams: number[], tokens: readonly number[], numbering: Numbering): void {
    const last = this.#order - 1;
    for (let i = 0; i < grams.length - last; i++) {
      grams[i] = numbering.of(grams[i]! * this.#alphabet + tokens[i + last]!);
    }
  }
}

function highestOf(numbers: readonly number[]): number {
  let highest = 0;
  for (const number of numbers) if (number > highest) highest = number;
  return highest;
}

/** Numbers combinations from 0 on, in the order in which they are first met. */
interface Numbering {
  readonly size: number;
  of(combination: number): number;
}

class TableNumbering implements Numbering {
  readonly #ids = new Int32Array(MAX_TABLE);
  /** Numbers that are below it in the table are of an earlier use. */
  #lowest = 1;
  size = 0;

  /** Forgets everything without clearing the table, which would take longer than to fill it. */
  restart(): this {
    this.#lowest += this.size;
    this.size = 0;
    if (this.#lowest > HIGHEST - MAX_TABLE) {
      this.#ids.fill(0);
      this.#lowest = 1;
    }
    return this;
  }

  of(combination: number): number {
    const known = this.#ids[combination]! - this.#lowest;
    if (known >= 0) return known;
    this.#ids[combination] = this.#lowest + this.size;
    return this.size++;
  }
}

class MapNumbering implements Numbering {
  readonly #ids = new Map<number, number>();

  get size(): number {
    return this.#ids.size;
  }

  of(combination: number): number {
    let id = this.#ids.get(combination);
    if (id === undefined) this.#ids.set(combination, id = this.#ids.size);
    return id;
  }
}

/** One of each for all short texts: to allocate them each time would take longer than to use them. */
const table = new TableNumbering();
const fewCounts = new Int32Array(MAX_TABLE);

/** Ends the numbering before it. */
function startNumbering(combinations: number): Numbering {
  return combinations <= MAX_TABLE ? table.restart() : new MapNumbering();
}

/** Ends the counts before them. */
function startCounts(size: number): Int32Array {
  return size <= MAX_TABLE ? fewCounts.fill(0, 0, size) : new Int32Array(size);
}

import { splitBlanks } from "../text/blanks.ts";
import { scoreOfEmpty, scoreOfWordless } from "./empty.ts";

const MAX_ORDER = 6;
const BETA_SQUARED = 4;

/**
 * chrF2 as sacreBLEU computes it, divided by 100: character 1- to 6-grams without blanks, recall
 * weighing twice as much as precision, orders averaged before the F-score.
 */
export function chrf(reply: string, reference: string): number {
  const empty = scoreOfEmpty(reply, reference);
  if (empty !== undefined) return empty;
  const found = Array.from(splitBlanks(reply).join(""));
  const wanted = Array.from(splitBlanks(reference).join(""));
  if (found.length === 0 && wanted.length === 0) return scoreOfWordless(reply, reference);

  const orders = Math.min(MAX_ORDER, found.length, wanted.length);
  let precision = 0;
  let recall = 0;
  const pair = new GramIds(found, wanted);
  for (let order = 1; order <= orders; order++) {
    const shared = pair.countShared();
    precision += shared / (found.length - order + 1) / orders;
    recall += shared / (wanted.length - order + 1) / orders;
    pair.lengthen();
  }
  if (precision + recall === 0) return 0;
  return Math.min(
    1,
    (1 + BETA_SQUARED) * precision * recall / (BETA_SQUARED * precision + recall),
  );
}

/**
 * The n-grams of two texts as numbers, equal where the n-grams are: an n-gram's number comes from
 * that of its first n − 1 characters and its last one. Strings of up to six characters would take
 * several times as long on a long text.
 */
class GramIds {
  readonly #characters: [Int32Array, Int32Array];
  readonly #alphabet: number;
  #grams: [Int32Array, Int32Array];
  #distinct: number;
  #order = 1;

  constructor(left: string[], right: string[]) {
    const ids = new Map<string, number>();
    const number = (character: string) => {
      let id = ids.get(character);
      if (id === undefined) ids.set(character, id = ids.size);
      return id;
    };
    this.#characters = [Int32Array.from(left, number), Int32Array.from(right, number)];
    this.#grams = [this.#characters[0].slice(), this.#characters[1].slice()];
    this.#alphabet = this.#distinct = ids.size;
  }

  /** How many n-grams the texts share, each as often as it occurs in both. */
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

  /** Makes each n-gram one character longer, in place. */
  lengthen(): void {
    this.#order++;
    const ids = new Map<number, number>();
    for (const side of [0, 1] as const) {
      const grams = this.#grams[side];
      const characters = this.#characters[side];
      for (let i = 0; i <= grams.length - this.#order; i++) {
        const key = grams[i]! * this.#alphabet + characters[i + this.#order - 1]!;
        let id = ids.get(key);
        if (id === undefined) ids.set(key, id = ids.size);
        grams[i] = id;
      }
    }
    this.#distinct = ids.size;
  }
}

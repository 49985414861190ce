/** Of a longer text the beginning is compared: it tells what the text is about. */
const MAX_CHARACTERS = 8000;
const ORDERS = [2, 3, 4];
const CODE_UNITS = 0x10000;
/** In the place of a number; no combination with it is ever learnt. */
const UNKNOWN = -1;

/**
 * A character n-gram of a text: its number in a collection, and itself if the collection does not
 * have it. Numbers are several times faster to look up than strings made for the purpose.
 */
export type CharGram = number | string;

/** The character 2- to 4-grams of a collection of texts, numbered from 0 on. */
export class CharGrams {
  /** For each order: the number of a gram, by that of its beginning and its last code unit. */
  readonly #numbers = ORDERS.map(() => new Map<number, number>());
  #size = 0;

  /** The n-grams of a text of the collection, as often as they occur. */
  learn(text: string): number[] {
    return this.#cut(text, { isLearning: true }) as number[];
  }

  /** The n-grams of any text, as often as they occur. Nothing is learnt from it. */
  find(text: string): CharGram[] {
    return this.#cut(text, { isLearning: false });
  }

  #cut(text: string, { isLearning }: { isLearning: boolean }): CharGram[] {
    const line = ` ${plainLine(text.slice(0, MAX_CHARACTERS))} `;
    const found: CharGram[] = [];
    const beginnings = codeUnits(line);
    for (const [index, order] of ORDERS.entries()) {
      const numbers = this.#numbers[index]!;
      for (let i = 0; i + order <= line.length; i++) {
        const combination = beginnings[i]! * CODE_UNITS + line.charCodeAt(i + order - 1);
        let number = numbers.get(combination);
        if (number === undefined && isLearning) numbers.set(combination, number = this.#size++);
        beginnings[i] = number ?? UNKNOWN;
        found.push(number ?? line.slice(i, i + order));
      }
    }
    return found;
  }
}

/** Half of a surrogate pair is as good a mark of a text as a whole one, and faster to come by. */
function codeUnits(line: string): number[] {
  const units: number[] = [];
  for (let i = 0; i < line.length; i++) units.push(line.charCodeAt(i));
  return units;
}

/** A text without regard to letter case, width of letters, and blanks. */
export function plainLine(text: string): string {
  return text.normalize("NFKC").toLowerCase().trim().replace(/\s+/gu, " ");
}

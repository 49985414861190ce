import { rememberLast } from "../background/remember_last.ts";
import { createYielder } from "../../../shared/yielder.ts";
import { countItems } from "./overlap.ts";

/** A reply is compared with its reference and with every label, and often comes again. */
const REMEMBERED = 128;
/** A vector takes some 120 bytes for each character of its text: 12 MB a batch at the most. */
const REMEMBERED_CHARACTERS = 50_000;

/** The weights of a text's character n-grams. */
export interface GramVector {
  weights: Map<CharGram, number>;
  /** Its squared length. */
  squares: number;
}

/** Weighs the n-grams of a text by how rare they are in a collection. */
export type CharTfIdf = (text: string) => GramVector;

/**
 * TF-IDF over character 2- to 4-grams, which needs no words and so works in every script. `texts`
 * are the collection that tells rare from common; an n-gram that is not in it is as rare as can be.
 * Made in pieces, between which the event loop turns.
 */
export async function createCharTfIdf(texts: Iterable<string>): Promise<CharTfIdf> {
  const yieldIfDue = createYielder();
  const grams = new CharGrams();
  /** By n-gram: in how many texts it is, and which of them was the last. */
  const frequency: number[] = [];
  const lastText: number[] = [];
  let total = 0;
  for (const text of texts) {
    total++;
    for (const gram of grams.learn(text)) {
      if (lastText[gram] === total) continue;
      lastText[gram] = total;
      frequency[gram] = (frequency[gram] ?? 0) + 1;
    }
    await yieldIfDue();
  }
  const weigh = (text: string): GramVector => {
    const weights = countItems(grams.find(text));
    let squares = 0;
    for (const [gram, count] of weights) {
      const texts = typeof gram === "number" ? frequency[gram]! : 0;
      const rarity = Math.log((1 + total) / (1 + texts)) + 1;
      weights.set(gram, count * rarity);
      squares += (count * rarity) ** 2;
    }
    return { weights, squares };
  };
  return rememberLast(weigh, REMEMBERED, { maxCharacters: REMEMBERED_CHARACTERS });
}

export function gramProduct(left: GramVector, right: GramVector): number {
  const [small, large] = left.weights.size < right.weights.size ? [left, right] : [right, left];
  let product = 0;
  for (const [gram, weight] of small.weights) product += weight * (large.weights.get(gram) ?? 0);
  return product;
}

/** In [0, 1]; 0 if a text has no n-gram. */
export function gramCosine(left: GramVector, right: GramVector): number {
  const length = Math.sqrt(left.squares * right.squares);
  return length === 0 ? 0 : Math.min(1, gramProduct(left, right) / length);
}

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
type CharGram = number | string;

/** The character 2- to 4-grams of a collection of texts, numbered from 0 on. */
class CharGrams {
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

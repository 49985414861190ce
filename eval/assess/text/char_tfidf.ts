import { rememberLast } from "../background/remember_last.ts";
import { createYielder } from "../../../shared/yielder.ts";
import { countItems } from "./overlap.ts";

/** Texts whose vectors are kept: a reply is compared with its reference and every label. */
const REMEMBERED = 128;
/** A vector takes about 90 bytes per character of its text: at most 9 MB per batch. */
const REMEMBERED_CHARACTERS = 50_000;

/** The weights of a text's character n-grams. */
export interface GramVector {
  weights: Map<string, number>;
  /** Its squared length. */
  squares: number;
}

/** Weights the n-grams of a text by how rare they are in a collection. */
export type CharTfIdf = (text: string) => GramVector;

/**
 * TF-IDF over character 2- to 4-grams, which works in every script because it needs no words.
 * `texts` are the collection; an n-gram that is not in it has the highest weight. Yields to the
 * event loop.
 */
export async function createCharTfIdf(texts: Iterable<string>): Promise<CharTfIdf> {
  const yieldIfDue = createYielder();
  /** The number of texts with an n-gram. */
  const frequency = new Map<string, number>();
  let total = 0;
  for (const text of texts) {
    total++;
    for (const gram of new Set(gramsOf(text))) {
      frequency.set(gram, (frequency.get(gram) ?? 0) + 1);
    }
    await yieldIfDue();
  }
  const weigh = (text: string): GramVector => {
    const weights = countItems(gramsOf(text));
    let squares = 0;
    for (const [gram, count] of weights) {
      const rarity = Math.log((1 + total) / (1 + (frequency.get(gram) ?? 0))) + 1;
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

/** Only the beginning of a longer text is compared. */
const MAX_CHARACTERS = 8000;
const ORDERS = [2, 3, 4];

/** All character n-grams of a text, with repetitions. */
function gramsOf(text: string): string[] {
  const line = ` ${plainLine(text.slice(0, MAX_CHARACTERS))} `;
  const found: string[] = [];
  for (const order of ORDERS) {
    for (let i = 0; i + order <= line.length; i++) found.push(line.slice(i, i + order));
  }
  return found;
}

/** Ignores letter case, width of letters, and the number of blanks. */
export function plainLine(text: string): string {
  return text.normalize("NFKC").toLowerCase().trim().replace(/\s+/gu, " ");
}

import { rememberLast } from "../background/remember_last.ts";
import { createYielder } from "../../../shared/yielder.ts";
import { countItems } from "./overlap.ts";

/** A reply is compared with its reference and with every label, and often comes again. */
const REMEMBERED = 128;
/** A vector takes some 90 bytes for each character of its text: 9 MB per batch at most. */
const REMEMBERED_CHARACTERS = 50_000;

/** The weights of a text's character n-grams. */
export interface GramVector {
  weights: Map<string, number>;
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
  /** In how many texts an n-gram is. */
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

/** Of a longer text the beginning is compared: it tells what the text is about. */
const MAX_CHARACTERS = 8000;
const ORDERS = [2, 3, 4];

/** The character n-grams of a text, as often as they occur. */
function gramsOf(text: string): string[] {
  const line = ` ${plainLine(text.slice(0, MAX_CHARACTERS))} `;
  const found: string[] = [];
  for (const order of ORDERS) {
    for (let i = 0; i + order <= line.length; i++) found.push(line.slice(i, i + order));
  }
  return found;
}

/** A text without regard to letter case, width of letters, and blanks. */
export function plainLine(text: string): string {
  return text.normalize("NFKC").toLowerCase().trim().replace(/\s+/gu, " ");
}

import { LONGEST_REMEMBERED, rememberLast } from "../background/remember_last.ts";
import { createYielder } from "../../../shared/yielder.ts";
import { type CharGram, CharGrams } from "./char_grams.ts";
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
  return rememberLast(weigh, REMEMBERED, {
    longest: LONGEST_REMEMBERED,
    maxCharacters: REMEMBERED_CHARACTERS,
  });
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

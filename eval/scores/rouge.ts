import { lcsLength } from "../text/lcs.ts";
import { countItems, countShared, f1 } from "../text/overlap.ts";
import { words } from "../text/words.ts";
import { scoreOfEmpty, scoreOfWordless } from "./empty.ts";

/** F1 over the bags of words. */
export function rouge1(reply: string, reference: string): number {
  return rouge(reply, reference, (found, wanted) => ngramF1(found, wanted, 1));
}

/** F1 over the bags of word pairs; 0 where a side has only one word, even where both are equal. */
export function rouge2(reply: string, reference: string): number {
  return rouge(reply, reference, (found, wanted) => ngramF1(found, wanted, 2));
}

/** F1 over the longest common subsequence of words. */
export function rougeL(reply: string, reference: string): number {
  return rouge(
    reply,
    reference,
    (found, wanted) => f1(lcsLength(found, wanted), { found: found.length, wanted: wanted.length }),
  );
}

function rouge(
  reply: string,
  reference: string,
  compare: (found: string[], wanted: string[]) => number,
): number {
  const empty = scoreOfEmpty(reply, reference);
  if (empty !== undefined) return empty;
  const found = words(reply);
  const wanted = words(reference);
  if (found.length === 0 && wanted.length === 0) return scoreOfWordless(reply, reference);
  return compare(found, wanted);
}

function ngramF1(found: string[], wanted: string[], order: number): number {
  const foundGrams = ngrams(found, order);
  const wantedGrams = ngrams(wanted, order);
  return f1(countShared(countItems(foundGrams), countItems(wantedGrams)), {
    found: foundGrams.length,
    wanted: wantedGrams.length,
  });
}

/** A word holds no blank, so one between two words cannot make two pairs look alike. */
function ngrams(tokens: string[], order: number): string[] {
  if (order === 1) return tokens;
  return tokens.slice(order - 1).map((_, i) => tokens.slice(i, i + order).join(" "));
}

import type { BatchSemantics } from "../batch_semantics.ts";
import { cosine } from "../embeddings/embedder.ts";
import { gramCosine } from "../text/char_tfidf.ts";
import { stemF1 } from "../text/stems.ts";
import { scoreOfEmpty } from "./empty.ts";

/** The share of the sentence vectors; word stems have the rest. */
const VECTOR_SHARE = 0.7;

/** What the score cannot tell, in words for people. */
export const SIMILARITY_LIMIT =
  "it does not tell a statement from its opposite: on sentence pairs that were not used for " +
  "development, contradictions score 0.81 on average and entailments 0.83, and 84 % of the " +
  "contradictions reach 0.7";

export interface SemanticSimilarity {
  value: number;
  /** How this pair was compared. */
  method: string;
}

/**
 * How near two texts are in meaning. English: 0.7 × cosine of sentence vectors + 0.3 × F1 over word
 * stems. An embeddings endpoint: the cosine alone, in any language. Everything else, and everything
 * where vectors cannot be had: cosine of character 2- to 4-grams weighted by TF-IDF.
 */
export async function semanticSimilarity(
  { reply, reference }: { reply: string; reference: string },
  semantics: BatchSemantics,
): Promise<SemanticSimilarity> {
  const { embedder } = semantics;
  const empty = scoreOfEmpty(reply, reference);
  if (empty !== undefined) return { value: empty, method: "empty" };
  if (!await semantics.isEmbeddable([reply, reference])) {
    return { value: await compareGrams(reply, reference, semantics), method: "char_tfidf" };
  }
  try {
    const pair = await Promise.all([embedder.embed(reply), embedder.embed(reference)]);
    const nearness = Math.min(1, Math.max(0, cosine(...pair)));
    if (!embedder.isEnglishOnly) return { value: nearness, method: embedder.method };
    const value = VECTOR_SHARE * nearness + (1 - VECTOR_SHARE) * stemF1(reply, reference);
    return { value, method: `${embedder.method}+stems` };
  } catch {
    const value = await compareGrams(reply, reference, semantics);
    return { value, method: `char_tfidf (${embedder.method} unavailable)` };
  }
}

async function compareGrams(reply: string, reference: string, semantics: BatchSemantics) {
  if (reply === reference) return 1; // also where there is no n-gram, or rounding
  const weigh = await semantics.tfIdf();
  return gramCosine(weigh(reply), weigh(reference));
}

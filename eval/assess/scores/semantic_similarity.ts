import type { ReplyAgreement } from "../../schemas/interaction_result.ts";
import {
  findExchanged,
  findNegation,
  findWrongValues,
  writeValuesAlike,
} from "../agreement/wrong_values.ts";
import { type BatchSemantics, NoVectors } from "../batch_semantics.ts";
import type { Embedder } from "../embeddings/embedder.ts";
import { cosine } from "../vectors.ts";
import { referenceOf } from "../references.ts";
import { gramCosine, plainLine } from "../text/char_tfidf.ts";
import { compareAnswers } from "../text/lone_answers.ts";
import { isName } from "../text/words.ts";
import { compareWordless } from "../text/wordless.ts";
import { scoreOfEmpty } from "./score.ts";
import { exactMatch } from "./lexical/squad.ts";
import type { TextPair } from "./lexical/pair_scores.ts";
import type { RepliedTurn, Scorer, ScorerResult } from "./scorer.ts";
import { calibrate, METHODS, type SimilarityMethod } from "./similarity_method.ts";

/**
 * How far the score can be trusted; users read it. The pairs are the English ones of
 * `tests/eval/assess/agreement/data`: `negation` and `antonym` contradict, `-` is equivalent.
 */
export const SIMILARITY_LIMIT =
  "a small model computes it, for English only: of 189 English sentence pairs of our own, the 63 " +
  "that contradict each other score 0.19 on average and 0 % of them reach 0.7; the 126 that say " +
  "the same in other words score 0.88 and 90 % of them reach 0.7; in other languages only wrong " +
  "numbers, dates, amounts and codes are seen, and in Chinese a negation";

/** The highest score of a reply that contradicts its reference, or has a wrong value. */
const MOST_CONTRADICTING = 0.65;

interface SemanticSimilarity {
  /** `null` if there are no vectors: another method would have another scale. */
  value: number | null;
  /** How pairs with this reference are compared. */
  method: string;
  missing?: string;
  /** Only of English texts that the encoder compared. */
  agreement?: ReplyAgreement;
  /** The value is the similarity to a single word or a name, which all such words have. */
  isNearnessToName?: true;
}

/**
 * How similar two texts are in meaning. With the built-in encoder: for English by the layers that
 * compare two texts; for other languages by the cosines of sentence vectors and of character
 * n-grams, calibrated so that 0.7 means about the same in every language; a reference without
 * letters by its numbers. With an embeddings endpoint: the cosine of the vectors. The method
 * depends on the reference and its batch, never on the reply. Two cases need no encoder: texts that
 * are equal except for case, width and blanks score 1, and a yes or no is compared with that of the
 * reply, because to the encoder "Yes" is nearer to "No" than to "Yes, you can".
 */
export async function semanticSimilarity(
  { reply, reference }: TextPair,
  semantics: BatchSemantics,
): Promise<SemanticSimilarity> {
  const { embedder } = semantics;
  const planned = embedder.isEnglishOnly ? await semantics.similarityMethod(reference) : undefined;
  const method = planned?.name ?? embedder.method;
  const known = scoreOfEmpty(reply, reference) ?? scoreOfEqual(reply, reference) ??
    (planned && compareAnswers(reply, reference));
  if (known !== undefined) return { value: known, method };
  if (planned?.by === "answer") {
    return { value: compareWordless(endsOf(reply), reference), method };
  }
  const pair = { reply, reference };
  try {
    const found = planned?.by === "agreement"
      ? await compareByModel(pair, { method: planned, semantics })
      : await compareByVectors(pair, { method: planned, semantics });
    return { method, ...found };
  } catch (error) {
    if (!(error instanceof NoVectors)) throw error;
    return { value: null, method, missing: error.message };
  }
}

type Found = Omit<SemanticSimilarity, "method">;

/**
 * Whether a reply says what an English reference says, or a part of it, and nothing else: with its
 * values and the parts of its sentences. False in other languages. Rejects with `NoVectors`.
 */
export async function saysNothingElse(pair: TextPair, semantics: BatchSemantics): Promise<boolean> {
  const { reply, reference } = pair;
  if (!semantics.embedder.isEnglishOnly) return false;
  const method = await semantics.similarityMethod(reference);
  if (method.by !== "agreement") return false;
  const { agreement } = await compareByModel(pair, { method, semantics });
  return (agreement?.label === "same" || agreement?.label === "partly") &&
    [...findWrongValues(reply, reference), ...findExchanged(reply, reference)].length === 0;
}

async function compareByModel(
  { reply, reference }: TextPair,
  { method, semantics }: { method: SimilarityMethod; semantics: BatchSemantics },
): Promise<Found> {
  const alike = { reply: writeValuesAlike(reply, reference), reference };
  const { similarity, agreement } = await semantics.agreementOf(alike);
  return { value: calibrate(similarity, method), agreement };
}

async function compareByVectors(
  { reply, reference }: TextPair,
  { method, semantics }: { method: SimilarityMethod | undefined; semantics: BatchSemantics },
): Promise<Found> {
  const isToName = isName(reference);
  if (isToName && exactMatch(reply, reference) === 1) return { value: 1 };
  const vectors = await Promise.all(
    [reply, reference].map((text) => semantics.embedFor(method, text)),
  ) as [Float32Array, Float32Array];
  let value = Math.min(1, Math.max(0, cosine(...vectors)));
  if (method && method.share < 1) {
    const weigh = await semantics.tfIdf();
    const overlap = gramCosine(weigh(reply), weigh(reference));
    value = Math.min(1, method.share * value + (1 - method.share) * overlap);
  }
  if (method) value = calibrate(value, method);
  return { value, ...(isToName && { isNearnessToName: true }) };
}

/** Longer texts are not normalised before they are compared, which would take seconds. */
const LONGEST_EQUAL = 100_000;

function scoreOfEqual(reply: string, reference: string): number | undefined {
  if (reply === reference) return 1;
  if (Math.max(reply.length, reference.length) > LONGEST_EQUAL) return undefined;
  return plainLine(reply) === plainLine(reference) ? 1 : undefined;
}

/** Both ends of a longer reply are searched for an answer. */
const SEARCHED = 10_000;

function endsOf(reply: string): string {
  if (reply.length <= 2 * SEARCHED) return reply;
  return `${reply.slice(0, SEARCHED)}\n${reply.slice(-SEARCHED)}`;
}

/** `semantic_similarity`, `agreement` and the values in which the texts differ. */
export const meaning: Scorer = {
  describe: ({ embedder }) => [{
    name: "semantic_similarity",
    definition: "how near the reply and the reference are in meaning",
    range: [0, 1],
    method: embedder.isEnglishOnly ? describeMethods(embedder) : `cosine of ${embedder.method}`,
    limits:
      `${SIMILARITY_LIMIT}; a reply that contradicts its reference, or has a wrong value, has at ` +
      `most ${MOST_CONTRADICTING} and does not pass unless a judge says otherwise`,
  }],

  forBatch: ({ semantics, changed }) => ({
    isRepeatable: true,
    plan: (interaction) => ({ semantic_similarity: referenceOf(interaction) !== undefined }),
    async score({ interaction, reply }: RepliedTurn): Promise<ScorerResult> {
      const reference = referenceOf(interaction);
      if (reference === undefined) return { scores: { semantic_similarity: null } };
      const { value, method, missing, agreement, isNearnessToName }: Partial<SemanticSimilarity> =
        changed.embeddings
          ? { missing: changed.embeddings }
          : await semanticSimilarity({ reply, reference }, semantics);
      const wrong = value === 1 ? [] : findWrongValues(reply, reference);
      wrong.push(...(agreement ? findExchanged : findNegation)(reply, reference));
      const said = agreement && wrong.length > 0
        ? { ...agreement, label: "contradicts" as const }
        : agreement;
      const contradicts = said?.label === "contradicts" || wrong.length > 0;
      const kinds = new Set(wrong.map(({ kind }) => kind));
      if (contradicts && kinds.size === 0) kinds.add("contradiction");
      const capped = contradicts && value ? Math.min(value, MOST_CONTRADICTING) : value;
      return {
        scores: { semantic_similarity: capped ?? null },
        ...(missing !== undefined && { missing: { semantic_similarity: missing } }),
        ...(method && { methods: { semantic_similarity: method } }),
        ...(isNearnessToName && { isNearnessToName }),
        fields: {
          ...(said && { agreement: said }),
          ...(wrong.length > 0 && { wrong_values: wrong.map(({ text }) => text) }),
          ...(kinds.size > 0 && { differs_in: [...kinds] }),
        },
      };
    },
  }),
};

/** The method for each kind of reference, with the numbers of its calibration. */
function describeMethods({ cjk }: Embedder): string {
  const used = Object.values<SimilarityMethod>(METHODS)
    .filter(({ encoder }) => encoder !== "cjk" || cjk);
  const methods = used.map(({ name, by, share, floor, threshold }) => {
    const lines = `straight lines from ${floor} (which becomes 0) over ${threshold} (0.7) to 1`;
    if (by === "agreement") {
      return `${name}: the result of the encoder's layers that compare two texts, and then ${lines}`;
    }
    if (by === "answer") {
      return `${name}, for references that are a number, an option's letter or have no letters: 1 ` +
        "if it is the reply's final answer, else 0; of several numbers or symbols, the share that " +
        "the reply has";
    }
    const rest = Number((1 - share).toFixed(2));
    const vectors = "cosine of sentence vectors";
    const mix = share === 1
      ? vectors
      : `${share} × ${vectors} + ${rest} × cosine of character 2- to 4-grams`;
    return `${name}: ${mix}, and then ${lines}`;
  });
  return `by the language and script of the reference: ${methods.join("; ")}. The n-grams are ` +
    "weighted by TF-IDF over the batch's references. null if there are no vectors; each " +
    "result names its method in score_methods";
}

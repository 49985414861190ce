import type { ReplyAgreement } from "../../test/interaction_result.ts";
import {
  findExchanged,
  findOtherNames,
  findWrongValues,
  writeValuesAlike,
} from "../agreement/wrong_values.ts";
import { type BatchSemantics, NoVectors } from "../batch_semantics.ts";
import { cosine } from "../vectors.ts";
import { referenceOf } from "../references.ts";
import { compareAnswers } from "../text/lone_answers.ts";
import { plainNumbers } from "../text/values.ts";
import { isName } from "../words.ts";
import { compareWordless, isWordless } from "../text/wordless.ts";
import { scoreOfEmpty } from "../score.ts";
import { chrf } from "./lexical/chrf.ts";
import { exactMatch } from "./lexical/squad.ts";
import type { TextPair } from "./lexical/pair_scores.ts";
import type { RepliedTurn, Scorer, ScorerResult } from "./scorer.ts";
import { calibrate, CHARACTERS, FLOOR, MEANING, THRESHOLD, WORDLESS } from "./similarity_method.ts";

/**
 * How far the score can be trusted; users read it. The pairs are the English ones of
 * `tests/eval/score/agreement/data`: `negation` and `antonym` contradict, `-` is equivalent.
 */
export const SIMILARITY_LIMIT =
  "a small model for twenty languages computes it: of 189 English sentence pairs of our own, the 63 " +
  "that contradict each other score 0.12 on average and 2 % of them reach 0.7; the 126 that say " +
  "the same in other words score 0.88 and 91 % of them reach 0.7";

/** The highest score of a reply that contradicts its reference, has a wrong value, or does not answer. */
const MOST_CONTRADICTING = 0.65;

interface SemanticSimilarity {
  /** `null` if there are no vectors: another method would have another scale. */
  value: number | null;
  /** How pairs with this reference are compared. */
  method: string;
  missing?: string;
  /** Only if the built-in encoder compared the texts, and knows their languages. */
  agreement?: ReplyAgreement;
  /** Why there is no agreement, although the encoder is the built-in one. */
  unknown?: string;
  /** The value is the similarity to a single word or a name, which all such words have. */
  isNearnessToName?: true;
}

/** Only the beginning of a longer text is compared by characters, which blocks this thread. */
const LONGEST_CHARACTERS = 8000;
const UNKNOWN_LANGUAGE = "the model does not know the language of the reply or its reference";

/**
 * How similar two texts are in meaning. With the built-in encoder: by its layers that compare two
 * texts; a reference without letters by its numbers, and one in a script that the encoder cannot
 * read by characters. With an embeddings endpoint: the cosine of the vectors. The method depends on
 * the reference, never on the reply. Two cases need no encoder: texts that are equal except for
 * case, width and blanks score 1, and a yes or no is compared with that of the reply.
 */
export async function semanticSimilarity(
  { reply, reference }: TextPair,
  { embedder }: BatchSemantics,
): Promise<SemanticSimilarity> {
  const isBuiltIn = embedder.compare !== undefined;
  const method = isBuiltIn ? methodFor(reference) : embedder.method;
  const known = scoreOfEmpty(reply, reference) ?? scoreOfEqual(reply, reference) ??
    (isBuiltIn ? compareAnswers(reply, reference) : undefined);
  if (known !== undefined) return { value: known, method };
  if (method === WORDLESS) return { value: compareWordless(endsOf(reply), reference), method };
  if (method === CHARACTERS) {
    const [own, expected] = [reply, reference].map((text) => text.slice(0, LONGEST_CHARACTERS));
    return { value: chrf(own!, expected!), method, unknown: UNKNOWN_LANGUAGE };
  }
  try {
    const pair = { reply, reference };
    const found = isBuiltIn
      ? await compareByModel(pair, embedder)
      : await compareByVectors(pair, embedder);
    return { method, ...found };
  } catch (error) {
    if (!(error instanceof NoVectors)) throw error;
    return { value: null, method, missing: error.message };
  }
}

function methodFor(reference: string): string {
  if (isWordless(reference)) return WORDLESS;
  return isReadable(reference) ? MEANING : CHARACTERS;
}

/** The scripts of the languages that the model knows. */
const KNOWN =
  /[\p{sc=Latn}\p{sc=Cyrl}\p{sc=Hani}\p{sc=Hira}\p{sc=Kana}\p{sc=Hang}\p{sc=Arab}\p{sc=Deva}\p{sc=Zyyy}]/gu;
/** Enough of a text to tell its script, and whether it asks; it may have megabytes. */
const READ_CHARACTERS = 2000;

/** Whether at least half of a text's letters are of a script that the model can read. */
function isReadable(text: string): boolean {
  const letters = text.slice(0, READ_CHARACTERS).match(/\p{L}/gu)?.join("") ?? "";
  return 2 * (letters.match(KNOWN)?.length ?? 0) >= letters.length;
}

type Encoder = BatchSemantics["embedder"];
type Found = Omit<SemanticSimilarity, "method">;

/**
 * Whether a reply says what a reference says, or a part of it, and nothing else: with its values
 * and the parts of its sentences. Without the built-in encoder only an equal text does. Rejects
 * with `NoVectors`.
 */
export async function saysNothingElse(
  { reply, reference }: TextPair,
  { embedder }: BatchSemantics,
): Promise<boolean> {
  if (exactMatch(reply, reference) === 1) return true;
  if (!embedder.compare || methodFor(reference) !== MEANING) return false;
  const { agreement } = await compareByModel({ reply, reference }, embedder);
  return (agreement?.label === "same" || agreement?.label === "partly") &&
    [findWrongValues, findOtherNames, findExchanged].every((find) =>
      find(reply, reference).length === 0
    );
}

async function compareByModel({ reply, reference }: TextPair, encoder: Encoder): Promise<Found> {
  const alike = {
    reply: writeValuesAlike(reply, reference),
    reference: plainNumbers(reference), // as the reply is written
  };
  const { similarity, agreement } = await encoder.compare!(alike);
  const isAnswer = !isNonAnswer(agreement) && (!isOnlyAsking(reply) || isOnlyAsking(reference));
  const value = isAnswer
    ? calibrate(similarity)
    : Math.min(calibrate(similarity), MOST_CONTRADICTING);
  return agreement ? { value, agreement } : { value, unknown: UNKNOWN_LANGUAGE };
}

/** Below this share the reply has nothing of the reference. */
const COVERS_NOTHING = 0.05;

/** Whether a reply neither covers its reference nor says something else that follows from it. */
function isNonAnswer(agreement: ReplyAgreement | undefined): boolean {
  return agreement !== undefined && agreement.covers < COVERS_NOTHING &&
    (agreement.label === "unrelated" || agreement.label === "partly");
}

const SENTENCE = /[^.!?。！？؟…\n]*[^\s.!?。！？؟…](?:[ \u00a0\u202f]?[.!?。！？؟…])*/gu;
/** Japanese and Chinese questions may end with a full stop. */
const QUESTION = /[?？؟][^\p{L}\p{N}]*$|[か吗嗎][。.]?\s*$/u;

/** Whether every sentence of a text is a question. */
function isOnlyAsking(text: string): boolean {
  const sentences = text.slice(0, READ_CHARACTERS).match(SENTENCE) ?? [];
  const said = sentences.filter((sentence) => /\p{L}/u.test(sentence));
  return said.length > 0 && said.every((sentence) => QUESTION.test(sentence));
}

async function compareByVectors({ reply, reference }: TextPair, encoder: Encoder): Promise<Found> {
  const isToName = isName(reference);
  if (isToName && exactMatch(reply, reference) === 1) return { value: 1 };
  const [one, other] = await Promise.all([reply, reference].map(encoder.embed));
  const value = Math.min(1, Math.max(0, cosine(one!, other!)));
  return { value, ...(isToName && { isNearnessToName: true }) };
}

/** Longer texts are not normalised before they are compared, which would take seconds. */
const LONGEST_EQUAL = 100_000;

function scoreOfEqual(reply: string, reference: string): number | undefined {
  if (reply === reference) return 1;
  if (Math.max(reply.length, reference.length) > LONGEST_EQUAL) return undefined;
  return plainLine(reply) === plainLine(reference) ? 1 : undefined;
}

/** Ignores letter case, width of letters, and the number of blanks. */
function plainLine(text: string): string {
  return text.normalize("NFKC").toLowerCase().trim().replace(/\s+/gu, " ");
}

/** Both ends of a longer reply are searched for an answer. */
const SEARCHED = 10_000;

function endsOf(reply: string): string {
  if (reply.length <= 2 * SEARCHED) return reply;
  return `${reply.slice(0, SEARCHED)}\n${reply.slice(-SEARCHED)}`;
}

const BUILT_IN =
  `${MEANING}: the result of the encoder's layers that compare two texts, and then ` +
  `straight lines from ${FLOOR} (which becomes 0) over ${THRESHOLD} (0.7) to 1; ${WORDLESS}, for ` +
  "references that are a number, an option's letter or have no letters: 1 if it is the reply's " +
  "final answer, else 0; of several numbers or symbols, the share that the reply has; " +
  `${CHARACTERS}, for references in a script that the encoder cannot read. null if there are no ` +
  "vectors; each result names its method in score_methods";

/** `semantic_similarity`, `agreement` and the values in which the texts differ. */
export const meaning: Scorer = {
  describe: ({ embedder }) => [{
    name: "semantic_similarity",
    definition: "how near the reply and the reference are in meaning",
    range: [0, 1],
    method: embedder.compare ? BUILT_IN : `cosine of ${embedder.method}`,
    limits:
      `${SIMILARITY_LIMIT}; a reply that contradicts its reference, or has a wrong value, has at ` +
      `most ${MOST_CONTRADICTING} and does not pass unless a judge says otherwise`,
  }],

  forBatch: ({ semantics, changed }) => ({
    isRepeatable: true,
    plan: (interaction) => ({ semantic_similarity: referenceOf(interaction) !== undefined }),
    async score({ interaction, reply }: RepliedTurn): Promise<ScorerResult> {
      const reference = referenceOf(interaction);
      if (reference === undefined) return { scores: { semantic_similarity: { value: null } } };
      const found: Partial<SemanticSimilarity> = changed.embeddings
        ? { missing: changed.embeddings }
        : await semanticSimilarity({ reply, reference }, semantics);
      const { value, method, missing, agreement, unknown, isNearnessToName } = found;
      const wrong = value === 1 ? [] : findWrongValues(reply, reference);
      if (agreement) wrong.push(...findOtherNames(reply, reference));
      const exchanged = agreement ? findExchanged(reply, reference) : [];
      if (exchanged.length > 0 && await semantics.isEnglish(reference)) wrong.push(...exchanged);
      const said = agreement && wrong.length > 0
        ? { ...agreement, label: "contradicts" as const }
        : agreement;
      const contradicts = said?.label === "contradicts" || wrong.length > 0;
      const kinds = new Set(wrong.map(({ kind }) => kind));
      if (contradicts && kinds.size === 0) kinds.add("contradiction");
      const capped = contradicts && value ? Math.min(value, MOST_CONTRADICTING) : value;
      return {
        scores: {
          semantic_similarity: { value: capped ?? null, reason: missing, method },
          ...(unknown !== undefined && { agreement: { reason: unknown } }),
        },
        ...(unknown !== undefined && { isLasting: true }),
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

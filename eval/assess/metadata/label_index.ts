import type { Interaction } from "../../schemas/scenario.ts";
import type { BatchSemantics } from "../batch_semantics.ts";
import { gramCosine } from "../text/char_tfidf.ts";
import type { AnnotatedReply, LabelExample } from "./annotator.ts";
import type { LabelGroup } from "./label_examples.ts";
import { createLabelGrams } from "./label_grams.ts";
import { createLabelVectors, type LabelVectors } from "./label_vectors.ts";

/** How near a reply is to one label. */
export interface LabelScore {
  label: unknown;
  /** How many examples the label has. */
  examples: number;
  score: number;
  /**
   * The score with one example less for every label that has several: the turn's own reference for
   * its label, and on average any for the others. So no label gains by the turn that is asked about.
   */
  even: number;
}

/** Scores every label of a key for a reply. */
interface LabelIndex {
  /** Rejects if a vector is needed and missing. */
  score(reply: AnnotatedReply): Promise<LabelScore[]>;
  /** Scores a reference as if it were no example; `score` and `even` are the same. */
  scoreExample(example: LabelExample): Promise<LabelScore[]>;
}

interface LabelIndexOptions {
  groups: LabelGroup[];
  semantics: BatchSemantics;
}

const GRAM_SHARE = 0.5;
const WORDS_SHARE = 0.3;

/** By sentence vectors and characters: cosines as `LabelVectors` adds them + 0.5 × TF-IDF cosine. */
export async function createVectorIndex(
  { groups, semantics }: LabelIndexOptions,
): Promise<LabelIndex> {
  const { embedder } = semantics;
  const weigh = await semantics.tfIdf();
  const entries = groups.map((group) => ({ ...group, texts: textsOf(group) }));
  const grams = entries.map(({ texts }) => createLabelGrams(texts, weigh));
  let vectors: Promise<LabelVectors[]> | undefined;
  /** Tried again with the next reply if they failed. */
  const embedLabels = () => {
    vectors ??= Promise.all(entries.map((entry) => createLabelVectors(entry, embedder)));
    vectors.catch(() => vectors = undefined);
    return vectors;
  };

  return {
    async score({ text, interaction }) {
      const [vector, labels] = await Promise.all([embedder.embed(text), embedLabels()]);
      const reply = weigh(text);
      return groups.map((group, at) => ({
        ...describe(group),
        score: labels[at]!.nearness(vector) + GRAM_SHARE * grams[at]!.nearness(reply),
        even: labels[at]!.evenNearness(vector, group.positions.get(interaction)),
      }));
    },
    async scoreExample({ text, interaction }) {
      const [vector, labels] = await Promise.all([embedder.embed(text), embedLabels()]);
      const reply = weigh(text);
      return groups.map((group, at) => {
        const own = group.positions.get(interaction);
        const even = labels[at]!.evenNearness(vector, own) +
          GRAM_SHARE * grams[at]!.evenNearness(reply, own);
        return { ...describe(group), score: even, even };
      });
    },
  };
}

/** By characters alone: TF-IDF cosine with the examples + 0.3 × with the label's own words. */
export async function createGramIndex(
  { groups, semantics }: LabelIndexOptions,
): Promise<LabelIndex> {
  const weigh = await semantics.tfIdf();
  const entries = groups.map((group) => ({
    group,
    grams: createLabelGrams(textsOf(group), weigh),
    words: weigh(group.words),
  }));

  function scoreAll(text: string, interaction: Interaction): LabelScore[] {
    const reply = weigh(text);
    return entries.map(({ group, grams, words }) => {
      const toWords = WORDS_SHARE * gramCosine(reply, words);
      const even = grams.evenNearness(reply, group.positions.get(interaction));
      return {
        ...describe(group),
        score: grams.nearness(reply) + toWords,
        even: even + toWords,
      };
    });
  }

  return {
    score: ({ text, interaction }) => Promise.resolve(scoreAll(text, interaction)),
    scoreExample: ({ text, interaction }) =>
      Promise.resolve(
        scoreAll(text, interaction).map((scored) => ({ ...scored, score: scored.even })),
      ),
  };
}

function textsOf({ examples }: LabelGroup): string[] {
  return examples.map(({ text }) => text);
}

function describe({ label, examples }: LabelGroup) {
  return { label, examples: examples.length };
}

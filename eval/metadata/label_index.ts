import type { Interaction, Scenario } from "../../shared/schemas/evaluate.ts";
import type { BatchSemantics } from "../batch_semantics.ts";
import { gramCosine, type GramVector } from "../text/char_tfidf.ts";
import type { AnnotatedReply } from "./annotator.ts";
import { batchLabels, labelKey, labelWords } from "./label.ts";
import { createLabelGrams, type LabelGrams } from "./label_grams.ts";
import { createLabelVectors, type LabelVectors } from "./label_vectors.ts";

export interface LabelScore {
  label: unknown;
  score: number;
}

/** Scores every label of a key for a reply; `kind` says what could be compared. */
export interface LabelIndex {
  score(reply: AnnotatedReply): Promise<{ kind: "vectors" | "grams"; scores: LabelScore[] }>;
}

/** Few-shot: more examples of a label cost time and tell little more. */
const MAX_EXAMPLES = 32;
const GRAM_SHARE = 0.5;
const WORDS_SHARE = 0.3;

interface LabelEntry {
  label: unknown;
  words: string;
  wordGrams: GramVector;
  /** Where each example comes from; a reply's own reference is left out by its position here. */
  sources: Interaction[];
  texts: string[];
  grams: LabelGrams;
}

/** The labelled references of a batch, for one metadata key. */
export async function createLabelIndex(
  key: string,
  { scenarios, semantics }: { scenarios: Scenario[]; semantics: BatchSemantics },
): Promise<LabelIndex> {
  const { embedder } = semantics;
  const weigh = await semantics.tfIdf();
  const entries = collectExamples(key, scenarios).map((entry): LabelEntry => ({
    ...entry,
    wordGrams: weigh(entry.words),
    grams: createLabelGrams(entry.texts, weigh),
  }));
  let vectors: Promise<LabelVectors[]> | undefined;
  const embedLabels = () =>
    vectors ??= Promise.all(entries.map((entry) => createLabelVectors(entry, embedder)));

  async function scoreByVectors({ text, interaction }: AnnotatedReply): Promise<LabelScore[]> {
    const [vector, labels] = await Promise.all([embedder.embed(text), embedLabels()]);
    const reply = weigh(text);
    return entries.map(({ label, sources, grams }, index) => {
      const own = ownPosition(sources, interaction);
      const nearness = labels[index]!.nearness(vector, own);
      return { label, score: nearness + GRAM_SHARE * grams.nearness(reply, own) };
    });
  }

  function scoreByGrams({ text, interaction }: AnnotatedReply): LabelScore[] {
    const reply = weigh(text);
    return entries.map(({ label, sources, grams, wordGrams }) => {
      const nearness = grams.nearness(reply, ownPosition(sources, interaction));
      return { label, score: nearness + WORDS_SHARE * gramCosine(reply, wordGrams) };
    });
  }

  return {
    async score(reply) {
      try {
        if (await semantics.isEmbeddable([reply.text])) {
          return { kind: "vectors", scores: await scoreByVectors(reply) };
        }
      } catch { /* no vectors to be had: the n-grams are there */ }
      return { kind: "grams", scores: scoreByGrams(reply) };
    },
  };
}

type Examples = Pick<LabelEntry, "label" | "words" | "sources" | "texts">;

function collectExamples(key: string, scenarios: Scenario[]): Examples[] {
  const labels = new Map<string, Examples>();
  for (const [id, label] of batchLabels(key, scenarios)) {
    labels.set(id, { label, words: labelWords(label), sources: [], texts: [] });
  }
  for (const interaction of scenarios.flatMap((scenario) => scenario.interactions)) {
    const { reference_reply: text, reference_metadata } = interaction;
    if (!text || !Object.hasOwn(reference_metadata, key)) continue;
    const { sources, texts } = labels.get(labelKey(reference_metadata[key]))!;
    if (texts.length >= MAX_EXAMPLES) continue;
    sources.push(interaction);
    texts.push(text);
  }
  return [...labels.values()];
}

/** A reply's own reference must not give its label away, unless the label has no other example. */
function ownPosition(sources: Interaction[], own: Interaction): number | undefined {
  const position = sources.indexOf(own);
  return position < 0 || sources.length === 1 ? undefined : position;
}

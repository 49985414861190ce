import type { Scenario } from "../../shared/schemas/evaluate.ts";
import type { BatchSemantics } from "../batch_semantics.ts";
import type { AnnotatedReply, Annotation, Annotator } from "./annotator.ts";
import { createLabelIndex, type LabelIndex, type LabelScore } from "./label_index.ts";

/**
 * The lowest score at which a label is given. With sentence vectors (at most 1.8) it lets every
 * right answer of the banking77 bench pass and holds back 97 % of sentences about anything else;
 * with TF-IDF alone (at most 1.3) texts that share little more than word endings stay below it.
 */
export const THRESHOLDS = { vectors: 0.55, grams: 0.15 };

/** How sharply a lead over the other labels becomes confidence. */
const TEMPERATURE = 0.1;

/**
 * Gives a reply one of the labels that the batch's references carry for a key: the one whose
 * examples it is nearest to, cosine of sentence vectors + 0.5 × TF-IDF cosine + 0.3 × cosine with
 * the label's own words. The reply's own reference has no say where its label has another example.
 * Abstains below `THRESHOLDS`, and where there are not two labels to choose from.
 */
export function createFewShotAnnotator(
  scenarios: Scenario[],
  semantics: BatchSemantics,
): Annotator {
  const indexes = new Map<string, Promise<LabelIndex>>();

  function indexFor(key: string): Promise<LabelIndex> {
    let index = indexes.get(key);
    if (!index) indexes.set(key, index = createLabelIndex(key, { scenarios, semantics }));
    return index;
  }

  return {
    handles: () => true,
    async annotate(key: string, reply: AnnotatedReply): Promise<Annotation> {
      const { kind, scores } = await (await indexFor(key)).score(reply);
      const method = kind === "vectors" ? "few_shot" : "few_shot_tfidf";
      const [best, ...others] = scores.toSorted((a, b) => b.score - a.score);
      if (!best || others.length === 0 || best.score < THRESHOLDS[kind]) {
        return { value: undefined, method, confidence: null };
      }
      return { value: best.label, method, confidence: confidenceIn(best, others) };
    },
  };
}

/** The best label's share in a softmax over all. */
function confidenceIn(best: LabelScore, others: LabelScore[]): number {
  const rest = others.reduce(
    (sum, { score }) => sum + Math.exp((score - best.score) / TEMPERATURE),
    0,
  );
  return 1 / (1 + rest);
}

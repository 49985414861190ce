import type { Scenario } from "../../schemas/scenario.ts";
import type { BatchSemantics } from "../batch_semantics.ts";
import type { KeyAnnotation, KeyAnnotator, LabelExample } from "./annotator.ts";
import { confidenceIn, type LabelKind, readLead, THRESHOLDS } from "./label_confidence.ts";
import { areMostly, collectExamples, type LabelGroup } from "./label_examples.ts";
import { createGramIndex, createVectorIndex } from "./label_index.ts";
import { spreadSample } from "./self_check.ts";

/** The method of labels that are read by sentence vectors. */
export const VECTOR_LABELS = "few_shot";

/** Below it a label is as likely wrong as right. */
const LOWEST_CONFIDENCE = 0.5;
/** Comparisons of two texts that a self-check may take: about half a second. */
const CHECK_BUDGET = 200_000;
const CHECKED = { atLeast: 30, atMost: 200 };

/** A few-shot annotator and the references that it can be checked with. */
interface FewShot {
  annotator: KeyAnnotator;
  checkable: LabelExample[];
  labels: number;
}

/**
 * Gives a reply one of the labels that the batch's references carry for a key: the one whose
 * examples it is nearest to, the turn's own reference among them. By sentence vectors if the
 * references are in a language that the embedder knows, else by characters: that is decided once,
 * and never by a reply. `undefined` if there are not two labels with an example to choose from.
 */
export async function createFewShot(
  key: string,
  { scenarios, semantics }: { scenarios: Scenario[]; semantics: BatchSemantics },
): Promise<FewShot | undefined> {
  const groups = collectExamples(key, scenarios);
  const examples = groups.flatMap(({ examples }) => examples);
  if (groups.filter(({ examples }) => examples.length > 0).length < 2) return undefined;
  const kind: LabelKind = await areMostly(examples, semantics.isEmbeddable) ? "vectors" : "grams";
  const create = kind === "vectors" ? createVectorIndex : createGramIndex;
  const index = await create({ groups, semantics });
  const method = kind === "vectors" ? VECTOR_LABELS : "few_shot_tfidf";
  const none = (reason: string): KeyAnnotation => ({
    value: undefined,
    method,
    confidence: null,
    reason,
  });

  return {
    annotator: {
      method,
      async annotate(reply) {
        const lead = readLead(await index.score(reply));
        if (lead.score < THRESHOLDS[kind]) return none("no label is near enough");
        const confidence = confidenceIn(lead, kind);
        if (confidence < LOWEST_CONFIDENCE) return none("two labels are about equally near");
        return { value: lead.label, method, confidence };
      },
      relabel: async (example) => readLead(await index.scoreExample(example)).label,
    },
    checkable: sampleCheckable(groups, examples.length),
    labels: groups.length,
  };
}

/** The references whose label has another example to be recognised by. */
function sampleCheckable(groups: LabelGroup[], examples: number): LabelExample[] {
  const { atLeast, atMost } = CHECKED;
  const count = Math.min(atMost, Math.max(atLeast, Math.floor(CHECK_BUDGET / examples)));
  const checkable = groups.filter(({ examples }) => examples.length > 1)
    .flatMap(({ examples }) => examples);
  return spreadSample(checkable, count);
}

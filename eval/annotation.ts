import type {
  Annotation as AnnotationSummary,
  Metadata,
  Scenario,
} from "../shared/schemas/evaluate.ts";
import { ProviderError } from "../shared/providers/provider.ts";
import type { BatchSemantics } from "./batch_semantics.ts";
import { type Candidates, labelReply } from "./judge/labels.ts";
import type { JudgeModel } from "./judge/model.ts";
import { UnreadableAnswer } from "./judge/structured.ts";
import type { AnnotatedReply, Annotation, Annotator } from "./metadata/annotator.ts";
import { batchLabels, indexLabels } from "./metadata/label.ts";
import { createAnnotators } from "./metadata/mod.ts";
import { createPacer } from "./pacer.ts";

export interface AnnotatedMetadata {
  generatedMetadata: Metadata;
  /** `undefined` where the turn has no reference metadata. */
  annotation: AnnotationSummary | undefined;
}

export interface AnnotationPorts {
  semantics: BatchSemantics;
  judge: JudgeModel | undefined;
  signal: AbortSignal;
}

/**
 * Derives a value from a reply for each key of its turn's reference metadata: by the judge where
 * there is one, all keys in one call; else, and where the judge fails, by the annotators.
 */
export function createMetadataReader(
  scenarios: Scenario[],
  { semantics, judge, signal }: AnnotationPorts,
): (reply: AnnotatedReply) => Promise<AnnotatedMetadata> {
  let learning: Promise<Annotator[]> | undefined;
  /** The annotators read the batch's labels as they are made, and so does the question to the judge. */
  const learnLabels = () =>
    learning ??= indexLabels(scenarios).then(() => createAnnotators(scenarios, semantics));

  async function askJudge(model: JudgeModel, { text, interaction }: AnnotatedReply) {
    const keys = Object.keys(interaction.reference_metadata);
    const wanted: Candidates = new Map(
      keys.map((key) => [key, batchLabels(key, scenarios)]),
    );
    const labelled = { userMessage: interaction.user_message, reply: text, candidates: wanted };
    try {
      return await labelReply(labelled, { model, signal });
    } catch (error) {
      if (error instanceof UnreadableAnswer || error instanceof ProviderError) return undefined;
      throw error;
    }
  }

  async function annotate(reply: AnnotatedReply): Promise<Map<string, Annotation>> {
    const annotators = await learnLabels();
    const judged = judge && await askJudge(judge, reply);
    if (judged) return judged;
    const found = new Map<string, Annotation>();
    const pace = createPacer();
    for (const key of Object.keys(reply.interaction.reference_metadata)) {
      const annotator = annotators.find((annotator) => annotator.handles(key));
      if (annotator) found.set(key, await annotator.annotate(key, reply));
      await pace(); // a turn may have thousands of keys, and an annotator need not wait for anything
    }
    return found;
  }

  return async (reply) => {
    if (Object.keys(reply.interaction.reference_metadata).length === 0) {
      return { generatedMetadata: {}, annotation: undefined };
    }
    return describe(await annotate(reply));
  };
}

function describe(found: Map<string, Annotation>): AnnotatedMetadata {
  const generatedMetadata: Metadata = {};
  const keys: AnnotationSummary["keys"] = {};
  for (const [key, { value, method, confidence }] of found) {
    if (value !== undefined) generatedMetadata[key] = value;
    keys[key] = { method, confidence };
  }
  const notes = Object.values(keys);
  const known = notes.map(({ confidence }) => confidence).filter((value) => value !== null);
  return {
    generatedMetadata,
    annotation: {
      method: [...new Set(notes.map(({ method }) => method))].join("+"),
      // Not `Math.min(...known)`: a caller's turn may have more keys than a call takes arguments.
      confidence: known.length === 0 ? null : known.reduce((least, one) => Math.min(least, one)),
      keys,
    },
  };
}

import type { Annotation } from "../../test/labels.ts";
import type { Interaction, Metadata } from "../../test/scenario.ts";
import type { Scores } from "../../test/statistics.ts";
import { isSameLabel } from "../metadata/label.ts";
import { mean } from "../mean.ts";
import { createMetadataReader } from "../metadata/annotation.ts";
import type { RepliedTurn, Scorer } from "./scorer.ts";

/**
 * `<key>_match` for each key of the reference metadata: 1 if the reply's label is the expected one,
 * else 0; and `metadata_match`, their mean. A key that no annotator can label in this batch does
 * not count (`null`). A blank reply and a reply that fits no label score 0: a model must not gain
 * by not answering. The match and the mean are missing only if the labels could not be read at all.
 * The mean also includes a key called `metadata`, whose own score would have the name of the mean.
 */
export function matchMetadata(
  { reference_metadata }: Interaction,
  { reply, generatedMetadata, annotation }: {
    reply: string;
    generatedMetadata: Metadata;
    annotation?: Annotation | undefined;
  },
): {
  scores: Scores;
  /** The reason for each missing score. */
  missing: Record<string, string>;
  /** Whether any key counts, so that `metadata_match` applies. */
  isPlanned: boolean;
} {
  const isBlank = reply.trim() === "";
  const matches: Scores = {};
  const missing: Record<string, string> = {};
  const counted: (number | null)[] = [];
  const reasons: string[] = [];
  for (const [key, expected] of Object.entries(reference_metadata)) {
    const note = annotation && Object.hasOwn(annotation.keys, key)
      ? annotation.keys[key]
      : undefined;
    const name = `${key}_match`;
    if (note?.counts === false) {
      matches[name] = null;
      continue;
    }
    const found = Object.hasOwn(generatedMetadata, key) ? generatedMetadata[key] : undefined;
    const isUnread = found === undefined && !note?.none_fits && !isBlank;
    const match = isUnread ? null : Number(!isBlank && isSameLabel(found, expected));
    matches[name] = match;
    counted.push(match);
    if (match !== null) continue;
    missing[name] = note?.reason ?? "the reply has no label";
    reasons.push(`${key}: ${missing[name]}`);
  }
  if (reasons.length === 0) {
    const metadata_match = mean(counted.filter((value) => value !== null));
    return { scores: { ...matches, metadata_match }, missing, isPlanned: counted.length > 0 };
  }
  return {
    scores: { ...matches, metadata_match: null },
    missing: { ...missing, metadata_match: reasons.join("; ") },
    isPlanned: true,
  };
}

const LABELLED_BY =
  "sentiment by a model for English, or by the batch's own examples if they do better; a key with " +
  "one label by rules for English dialogue acts; others by nearness to the labelled references " +
  "(cosine of vectors, or of character n-grams in other languages). A reply on the subject of its " +
  "reference is often given its label even if it carries another. Each key is checked with the " +
  "batch's references by leave-one-out (labels.<key>.self_check) and is not labelled if it fails";

/** Results with more keys are larger than the memo assumes, and are not kept. */
const MAX_REMEMBERED_KEYS = 32;

/** `<key>_match` for each key of a turn's reference metadata, and `metadata_match`. */
export const metadataMatch: Scorer = {
  describe: ({ judge }) => [
    {
      name: "<key>_match",
      definition: "for each key of reference_metadata: 1 if the reply has the expected label, " +
        "else 0, also if none of the labels fits; missing if the labels could not be read; null if " +
        "the key cannot be labelled in this batch",
      range: [0, 1],
      method: `a reply with the text of a reference has its labels; ${
        judge ? `others have those that ${judge.name} gives` : LABELLED_BY
      }`,
    },
    {
      name: "metadata_match",
      definition: "the mean of the matches of those keys that can be labelled in this batch; " +
        "missing if one of them is missing",
      range: [0, 1],
      method: "mean",
    },
  ],

  forBatch({ scenarios, semantics, plansJudge, judge, changed, rescored, signal, onLabelFailure }) {
    const reader = createMetadataReader(scenarios, {
      semantics,
      judge,
      signal,
      unavailable: plansJudge ? changed.judge : changed.embeddings,
      onFailure: onLabelFailure,
    });
    return {
      hasCallersNames: true,
      isRepeatable: true,
      /** Only a judge's labels: others cost nothing. */
      keep({ reference_metadata }, { scores, missing_scores = {}, ...earlier }) {
        if (!judge || rescored.has("judge") || !earlier.annotation) return undefined;
        const names = [
          ...Object.keys(reference_metadata).map((key) => `${key}_match`),
          "metadata_match",
        ];
        if (names.some((name) => name in missing_scores)) return undefined;
        return {
          scores: Object.fromEntries(names.map((name) => [name, scores[name] ?? null])),
          fields: { generatedMetadata: earlier.generated_metadata, annotation: earlier.annotation },
        };
      },
      plan({ reference_metadata }) {
        const keys = Object.keys(reference_metadata);
        return {
          ...Object.fromEntries(keys.map((key) => [`${key}_match`, true])),
          metadata_match: keys.length > 0,
        };
      },
      async learnPlan(interaction) {
        const annotation = await reader.plan(interaction);
        const { scores } = matchMetadata(interaction, {
          reply: "",
          generatedMetadata: {},
          annotation,
        });
        return Object.fromEntries(
          Object.entries(scores).map(([name, value]) => [name, value !== null]),
        );
      },
      async score({ interaction, reply }: RepliedTurn) {
        const { generatedMetadata, annotation, isLasting } = await reader.read({
          text: reply,
          interaction,
        });
        const { scores, missing } = matchMetadata(interaction, {
          reply,
          generatedMetadata,
          annotation,
        });
        return {
          scores,
          missing,
          fields: { generatedMetadata, ...(annotation && { annotation }) },
          isLasting: isLasting && Object.keys(annotation?.keys ?? {}).length <= MAX_REMEMBERED_KEYS,
        };
      },
    };
  },
};

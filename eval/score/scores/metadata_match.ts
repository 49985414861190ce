import type { Annotation } from "../../test/labels.ts";
import type { Interaction, Metadata } from "../../test/scenario.ts";
import { isSameLabel } from "../metadata/label.ts";
import { mean } from "../mean.ts";
import { createMetadataReader } from "../metadata/annotation.ts";
import type { RepliedTurn, ScoreEntry, Scorer } from "./scorer.ts";

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
): Record<string, ScoreEntry> {
  const isBlank = reply.trim() === "";
  const matches: Record<string, ScoreEntry> = {};
  const counted: (number | null)[] = [];
  const reasons: string[] = [];
  for (const [key, expected] of Object.entries(reference_metadata)) {
    const note = annotation && Object.hasOwn(annotation.keys, key)
      ? annotation.keys[key]
      : undefined;
    const name = `${key}_match`;
    if (note?.counts === false) {
      matches[name] = { value: null };
      continue;
    }
    const found = Object.hasOwn(generatedMetadata, key) ? generatedMetadata[key] : undefined;
    const isUnread = found === undefined && !note?.none_fits && !isBlank;
    const value = isUnread ? null : Number(!isBlank && isSameLabel(found, expected));
    const reason = isUnread ? note?.reason ?? "the reply has no label" : undefined;
    matches[name] = { value, reason };
    counted.push(value);
    if (reason !== undefined) reasons.push(`${key}: ${reason}`);
  }
  const metadata_match: ScoreEntry = reasons.length === 0
    ? { value: mean(counted.filter((value) => value !== null)) }
    : { value: null, reason: reasons.join("; ") };
  return { ...matches, metadata_match };
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
          scores: Object.fromEntries(names.map((name) => [name, { value: scores[name] ?? null }])),
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
        const none = { reply: "", generatedMetadata: {}, annotation };
        return Object.fromEntries(
          Object.entries(matchMetadata(interaction, none))
            .map(([name, { value }]) => [name, value !== null]),
        );
      },
      async score({ interaction, reply, judge }: RepliedTurn) {
        const labels = await reader.read({ text: reply, interaction }, judge);
        const { generatedMetadata, annotation, isLasting } = labels;
        return {
          scores: matchMetadata(interaction, { reply, generatedMetadata, annotation }),
          fields: { generatedMetadata, ...(annotation && { annotation }) },
          isLasting: isLasting && Object.keys(annotation?.keys ?? {}).length <= MAX_REMEMBERED_KEYS,
        };
      },
    };
  },
};

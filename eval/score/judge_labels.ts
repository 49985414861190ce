import { z } from "zod";
import { type KeyAnnotation, noLabel } from "./metadata/annotator.ts";
import { labelKey } from "../test/labels.ts";
import type { JudgeModel } from "./judge_model.ts";
import { askStructured } from "./judge_structured.ts";

/** The judge's choice if no label fits. */
const UNKNOWN = "unknown";

/** The method of labels that a judge chose. */
export const JUDGE_LABELS = "judge";

/** For each metadata key the labels to choose from: `labelKey` to the label in the batch. */
export type Candidates = Map<string, Map<string, unknown>>;

/**
 * Has the judge label all keys of a reply in one call. A key has no value if the judge says that no
 * candidate fits. Throws `UnreadableAnswer`, and what the model throws.
 */
export async function labelReply(
  { userMessage, reply, candidates }: {
    userMessage: string;
    reply: string;
    candidates: Candidates;
  },
  options: { model: JudgeModel; signal: AbortSignal },
): Promise<Map<string, KeyAnnotation>> {
  const schema = labelSchema(candidates);
  const choices = [...candidates].map(([key, labels]) => {
    const named = choicesOf(labels).map((label) => JSON.stringify(label));
    return `- ${JSON.stringify(key)}: one of ${named.join(", ")}`;
  });
  const answer = await askStructured({
    name: "labels",
    instructions: "You annotate a reply that an assistant gave. For each key choose the label " +
      `that describes the reply itself, or ${JSON.stringify(UNKNOWN)} if none does:\n` +
      choices.join("\n"),
    texts: { user_message: userMessage, reply },
    form: '"labels": {key: label}, "confidence": number from 0 to 1',
    schema,
    accepted: schema,
    temperature: 0,
  }, options);
  return new Map([...candidates].map(([key, labels]): [string, KeyAnnotation] => {
    const chosen = labelKey(answer.labels[key]);
    if (!labels.has(chosen)) {
      return [key, noLabel(JUDGE_LABELS, "the judge says that none of the labels fits")];
    }
    const { confidence } = answer;
    return [key, { value: labels.get(chosen), method: JUDGE_LABELS, confidence }];
  }));
}

function labelSchema(candidates: Candidates) {
  const keys = [...candidates].map(([key, labels]) => [key, z.enum(choicesOf(labels))]);
  return z.strictObject({
    labels: z.strictObject(Object.fromEntries(keys) as Record<string, z.ZodType<string>>),
    confidence: z.number().min(0).max(1),
  });
}

function choicesOf(labels: Map<string, unknown>): string[] {
  return [...new Set([...labels.keys(), UNKNOWN])];
}

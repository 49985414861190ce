import type { Scenario } from "../test/scenario.ts";
import { createYielder } from "../../shared/service/waiting.ts";
import { normalText } from "./metadata/label.ts";
import { type AnnotatedReply, type KeyAnnotation, noLabel } from "./metadata/annotator.ts";
import { labelKey } from "../test/labels.ts";

/** The method of labels that are taken from a reference with the same text. */
export const SAME_TEXT = "same_text";

/** The method of labels that are taken from the turn's reference, because the reply says what it says. */
export const SAME_MEANING = "same_meaning";

/** The labels of replies that have the text of a reference. */
export interface ReferenceLabels {
  /** `undefined` if no reference with a label for the key has the reply's text. */
  find(key: string, reply: AnnotatedReply): KeyAnnotation | undefined;
}

/** Longer replies are not looked up, because normalising them takes seconds. */
const LONGEST = 100_000;

/**
 * By `normalText` of the reference, then by key, then by `labelKey`: the label as first written.
 */
type LabelsByText = Map<string, Map<string, Map<string, unknown>>>;

/** Reads the batch once, and yields to the event loop in between. */
export async function createReferenceLabels(scenarios: Scenario[]): Promise<ReferenceLabels> {
  const byText: LabelsByText = new Map();
  const yieldIfDue = createYielder();
  for (const { interactions } of scenarios) {
    for (const { reference_reply, reference_metadata } of interactions) {
      await yieldIfDue();
      const labels = Object.entries(reference_metadata);
      const text = reference_reply && labels.length > 0 ? normalText(reference_reply) : "";
      if (text === "") continue;
      const byKey = byText.getOrInsertComputed(text, () => new Map());
      for (const [key, label] of labels) {
        const known = byKey.getOrInsertComputed(key, () => new Map<string, unknown>());
        if (!known.has(labelKey(label))) known.set(labelKey(label), label);
        await yieldIfDue();
      }
    }
  }
  return {
    find(key, reply) {
      if (reply.text.length > LONGEST) return undefined;
      return choose(byText.get(normalText(reply.text))?.get(key), key, reply);
    },
  };
}

/**
 * If references with the same text have different labels, that of the turn decides if it is among
 * them; otherwise there is no label.
 */
function choose(
  labels: Map<string, unknown> | undefined,
  key: string,
  { interaction: { reference_metadata } }: AnnotatedReply,
): KeyAnnotation | undefined {
  if (!labels) return undefined;
  if (labels.size === 1) {
    return { value: [...labels.values()][0], method: SAME_TEXT, confidence: 1 };
  }
  const expected = Object.hasOwn(reference_metadata, key)
    ? labelKey(reference_metadata[key])
    : undefined;
  if (expected !== undefined && labels.has(expected)) {
    return { value: labels.get(expected), method: SAME_TEXT, confidence: 1 };
  }
  return noLabel(SAME_TEXT, `${labels.size} references have this text and different labels`);
}

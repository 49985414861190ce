import type { Interaction, Scenario } from "../../schemas/scenario.ts";
import { batchLabels, labelWords, normalText } from "./label.ts";
import type { LabelExample } from "./annotator.ts";
import { labelKey } from "../../schemas/labels.ts";
import { spreadSample } from "./self_check.ts";

/** More examples of a label cost time and tell little more. */
const MAX_EXAMPLES = 32;
/** References whose language tells that of all of them. */
const LANGUAGE_SAMPLE = 16;

/** A label of a key, and the references of the batch that carry it. */
export interface LabelGroup {
  label: unknown;
  words: string;
  /** One for each text. */
  examples: LabelExample[];
  /** Which example has the text of a turn's reference. */
  positions: Map<Interaction, number>;
}

/** The labels of a key, in the order in which the batch has them. A label may have no example. */
export function collectExamples(key: string, scenarios: Scenario[]): LabelGroup[] {
  const groups = new Map<string, LabelGroup & { byText: Map<string, number> }>();
  for (const [id, label] of batchLabels(key, scenarios)) {
    const words = labelWords(label);
    groups.set(id, { label, words, examples: [], positions: new Map(), byText: new Map() });
  }
  for (const interaction of scenarios.flatMap(({ interactions }) => interactions)) {
    const { reference_reply: text, reference_metadata } = interaction;
    if (!text?.trim() || !Object.hasOwn(reference_metadata, key)) continue;
    const group = groups.get(labelKey(reference_metadata[key]))!;
    const normal = normalText(text);
    let position = group.byText.get(normal);
    if (position === undefined) {
      position = group.examples.length;
      if (position >= MAX_EXAMPLES) continue;
      group.byText.set(normal, position);
      group.examples.push({ text, label: group.label, interaction });
    }
    group.positions.set(interaction, position);
  }
  return [...groups.values()];
}

/**
 * Whether the references are in a language, by vote: it is often mistaken in a short text. Without a
 * reference nothing speaks against it.
 */
export async function areMostly(
  references: LabelExample[],
  isSo: (text: string) => Promise<boolean>,
): Promise<boolean> {
  const sample = spreadSample(references, LANGUAGE_SAMPLE);
  const votes = await Promise.all(sample.map(({ text }) => isSo(text)));
  return votes.filter(Boolean).length * 2 >= votes.length;
}

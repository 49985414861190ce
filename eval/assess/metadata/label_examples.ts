import type { Interaction, Scenario } from "../../schemas/scenario.ts";
import { batchLabels, labelWords, normalText } from "./label.ts";
import type { LabelExample } from "./annotator.ts";
import { labelKey } from "../../schemas/labels.ts";
import { spreadSample } from "./self_check.ts";

/** Per label. More examples cost time and add little. */
const MAX_EXAMPLES = 32;
/** References that decide the language of all of them. */
const LANGUAGE_SAMPLE = 16;

/** A label of a key, and the references of the batch with it. */
export interface LabelGroup {
  label: unknown;
  words: string;
  /** One per distinct text. */
  examples: LabelExample[];
  /** The index of the example with the text of a turn's reference. */
  positions: Map<Interaction, number>;
}

/** The labels of a key, in the order of the batch. A label may have no example. */
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
 * Whether at least half of the references satisfy `isSo`, which is often wrong about the language
 * of a short text. True without references.
 */
export async function areMostly(
  references: LabelExample[],
  isSo: (text: string) => Promise<boolean>,
): Promise<boolean> {
  const sample = spreadSample(references, LANGUAGE_SAMPLE);
  const votes = await Promise.all(sample.map(({ text }) => isSo(text)));
  return votes.filter(Boolean).length * 2 >= votes.length;
}

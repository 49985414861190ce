import type { Interaction, Scenario } from "../../shared/schemas/evaluate.ts";
import { words } from "../text/words.ts";
import type { Annotator } from "./annotator.ts";

interface Example {
  interaction: Interaction;
  label: string;
  /** Length of its TF-IDF vector. */
  norm: number;
}

interface LabelIndex {
  examples: Example[];
  /** How many examples a label has. */
  counts: Map<string, number>;
  /** For each word, which examples hold it and with what weight. */
  postings: Map<string, { weight: number; examples: { index: number; weight: number }[] }>;
}

/**
 * Gives a reply the label of the reference it is nearest to (cosine of TF-IDF weighted words),
 * among the references of this batch that carry that key. The reply's own reference does not vote
 * where its label has another example. Abstains where there is nothing to choose from: fewer than
 * two labels, or no word in common with any of them.
 */
export function createNearestLabelAnnotator(scenarios: Scenario[]): Annotator {
  const indexes = new Map<string, LabelIndex>();

  function indexFor(key: string): LabelIndex {
    let index = indexes.get(key);
    if (!index) indexes.set(key, index = buildIndex(key, scenarios));
    return index;
  }

  return {
    handles: () => true,
    annotate(key, { text, interaction }) {
      const index = indexFor(key);
      if (index.counts.size < 2) return undefined;
      return nearest(index, text, interaction);
    },
  };
}

function buildIndex(key: string, scenarios: Scenario[]): LabelIndex {
  const examples: Example[] = [];
  const counts: LabelIndex["counts"] = new Map();
  const postings: LabelIndex["postings"] = new Map();
  for (const interaction of scenarios.flatMap((scenario) => scenario.interactions)) {
    const label = interaction.reference_metadata[key];
    if (typeof label !== "string" || !interaction.reference_reply) continue;
    const index = examples.push({ interaction, label, norm: 0 }) - 1;
    counts.set(label, (counts.get(label) ?? 0) + 1);
    for (const [word, count] of countWords(interaction.reference_reply)) {
      const posting = postings.get(word) ?? { weight: 0, examples: [] };
      posting.examples.push({ index, weight: count });
      postings.set(word, posting);
    }
  }
  for (const posting of postings.values()) {
    posting.weight = Math.log(examples.length / posting.examples.length);
    if (posting.weight === 0) posting.examples = []; // in every reference: it tells nothing
    for (const entry of posting.examples) {
      entry.weight *= posting.weight;
      examples[entry.index]!.norm += entry.weight ** 2;
    }
  }
  for (const example of examples) example.norm = Math.sqrt(example.norm);
  return { examples, counts, postings };
}

function nearest({ examples, counts, postings }: LabelIndex, text: string, own: Interaction) {
  const products = new Float64Array(examples.length);
  for (const [word, count] of countWords(text)) {
    const posting = postings.get(word);
    if (!posting) continue;
    const weight = count * posting.weight;
    for (const entry of posting.examples) products[entry.index]! += weight * entry.weight;
  }
  let best: { label: string; similarity: number } | undefined;
  for (const [index, { interaction, label, norm }] of examples.entries()) {
    if (interaction === own && counts.get(label)! > 1) continue;
    const similarity = norm === 0 ? 0 : products[index]! / norm;
    if (similarity > (best?.similarity ?? 0)) best = { label, similarity };
  }
  return best?.label;
}

function countWords(text: string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const word of words(text)) counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
}

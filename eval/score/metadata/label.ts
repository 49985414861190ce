import type { Interaction, Scenario } from "../../test/scenario.ts";
import { labelKey } from "../../test/labels.ts";
import { createYielder } from "../../../shared/service/waiting.ts";
import type { LabelExample } from "./annotator.ts";

/** Whether two labels have the same `labelKey`. */
export function isSameLabel(left: unknown, right: unknown): boolean {
  return left === right || labelKey(left) === labelKey(right);
}

/** By metadata key, then by `labelKey`: a label as it was first written. */
type LabelsByKey = Map<string, Map<string, unknown>>;

/** A batch is indexed once for all of its keys. */
const indexes = new WeakMap<Scenario[], LabelsByKey>();

/**
 * The labels of a key in the batch's reference metadata, by `labelKey`, as they were first written.
 */
export function batchLabels(key: string, scenarios: Scenario[]): Map<string, unknown> {
  let index = indexes.get(scenarios);
  if (!index) {
    index = new Map();
    for (const _ of collectLabels(scenarios, index)); // to the end, in one go
    indexes.set(scenarios, index);
  }
  return index.get(key) ?? new Map();
}

/**
 * Does the work of the first `batchLabels` ahead of it, and yields to the event loop in between.
 */
export async function indexLabels(scenarios: Scenario[]): Promise<void> {
  if (indexes.has(scenarios)) return;
  const yieldIfDue = createYielder();
  const index: LabelsByKey = new Map();
  for (const _ of collectLabels(scenarios, index)) await yieldIfDue();
  indexes.set(scenarios, index);
}

/** Yields after each label, for a pause. */
function* collectLabels(scenarios: Scenario[], index: LabelsByKey): Generator<void> {
  for (const { interactions } of scenarios) {
    for (const { reference_metadata } of interactions) {
      for (const [key, label] of Object.entries(reference_metadata)) {
        const labels = index.getOrInsertComputed(key, () => new Map<string, unknown>());
        const id = labelKey(label);
        if (!labels.has(id)) labels.set(id, label);
        yield;
      }
    }
  }
}

/** `order_status`, `orderStatus` and `order-status` as words. */
function labelWords(label: unknown): string {
  return String(label).replace(/(\p{Ll})(\p{Lu})/gu, "$1 $2").replace(/[_\-./]+/g, " ").trim();
}

/** Matches the inside: a search for punctuation at the end would take quadratic time. */
const INSIDE = /[^\p{P}\s](?:.*[^\p{P}\s])?/su;

/**
 * Texts that are the same to a reader have the same normal text: NFKC, lower case, single blanks,
 * no punctuation at the ends. A text of punctuation only keeps it.
 */
export function normalText(text: string): string {
  const folded = text.normalize("NFKC").toLowerCase().replace(/\s+/g, " ").trim();
  return INSIDE.exec(folded)?.[0] ?? folded;
}

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

/** At most `count` items, evenly spread, and the same ones each time. */
export function spreadSample<Item>(items: Item[], count: number): Item[] {
  if (items.length <= count) return items;
  return Array.from({ length: count }, (_, i) => items[Math.floor(i * items.length / count)]!);
}

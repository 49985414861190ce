import type { Interaction, Scenario } from "../../test/scenario.ts";
import { labelKey, SAME_TEXT } from "../../test/labels.ts";
import { createYielder } from "../../../shared/service/waiting.ts";
import {
  type AnnotatedReply,
  type KeyAnnotation,
  type LabelExample,
  noLabel,
} from "./annotator.ts";

/** Whether two labels have the same `labelKey`. */
export function isSameLabel(left: unknown, right: unknown): boolean {
  return left === right || labelKey(left) === labelKey(right);
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
  for (const interaction of scenarios.flatMap(({ interactions }) => interactions)) {
    const { reference_reply: text, reference_metadata } = interaction;
    if (!Object.hasOwn(reference_metadata, key)) continue;
    const label = reference_metadata[key];
    const group = groups.getOrInsertComputed(labelKey(label), () => (
      { label, words: labelWords(label), examples: [], positions: new Map(), byText: new Map() }
    ));
    if (!text?.trim()) continue;
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

/** Of a key, by `labelKey`: the labels as they were first written. */
type Labels = Map<string, unknown>;

/** The labels of a batch. */
export interface BatchLabels {
  /** All labels of a key, in their order. */
  of(key: string): Labels;
  /** `undefined` if no reference with a label for the key has the reply's text. */
  find(key: string, reply: AnnotatedReply): KeyAnnotation | undefined;
}

/** Longer replies are not looked up, because normalising them takes seconds. */
const LONGEST = 100_000;

/** Reads the batch once, and yields to the event loop in between. */
export async function collectLabels(scenarios: Scenario[]): Promise<BatchLabels> {
  const byKey = new Map<string, Labels>();
  /** By `normalText` of the reference. */
  const byText = new Map<string, Map<string, Labels>>();
  const yieldIfDue = createYielder();
  for (const { interactions } of scenarios) {
    for (const { reference_reply, reference_metadata } of interactions) {
      await yieldIfDue();
      const labels = Object.entries(reference_metadata);
      const text = reference_reply && labels.length > 0 ? normalText(reference_reply) : "";
      const known = text === "" ? undefined : byText.getOrInsertComputed(text, () => new Map());
      for (const [key, label] of labels) {
        for (const map of [byKey, known]) {
          map?.getOrInsertComputed(key, () => new Map())
            .getOrInsertComputed(labelKey(label), () => label);
        }
        await yieldIfDue();
      }
    }
  }
  return {
    of: (key) => byKey.get(key) ?? new Map(),
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
  labels: Labels | undefined,
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

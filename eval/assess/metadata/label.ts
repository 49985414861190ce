import type { Scenario } from "../../schemas/scenario.ts";
import { labelKey } from "../../schemas/labels.ts";
import { createYielder } from "../../../shared/yielder.ts";

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
export function labelWords(label: unknown): string {
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

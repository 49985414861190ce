import type { Scenario } from "../../schemas/scenario.ts";
import { labelKey } from "../../schemas/labels.ts";
import { createYielder } from "../../../shared/yielder.ts";

/** The value of an annotator that knows the text but not its label: another language, say. */
export const UNKNOWN = "unknown";

/** Whether two labels are the same by their `labelKey`; most often they are equal as they are. */
export function isSameLabel(left: unknown, right: unknown): boolean {
  return left === right || labelKey(left) === labelKey(right);
}

/** By metadata key, then by `labelKey`: a label as it was first written. */
type LabelsByKey = Map<string, Map<string, unknown>>;

/** A batch is walked once for all of its keys, and forgotten together with its index. */
const indexes = new WeakMap<Scenario[], LabelsByKey>();

/**
 * The labels that a batch's references carry for a key, by `labelKey`, as they were first written.
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
 * Does the work of the first `batchLabels` ahead of it, in pieces between which others get their
 * turn.
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

/** `order_status`, `orderStatus` and `order-status` in words. */
export function labelWords(label: unknown): string {
  return String(label).replace(/(\p{Ll})(\p{Lu})/gu, "$1 $2").replace(/[_\-./]+/g, " ").trim();
}

/** Found by what is inside: a search for punctuation at the end would read long rows again and again. */
const INSIDE = /[^\p{P}\s](?:.*[^\p{P}\s])?/su;

/**
 * A text by which two are the same to a reader: NFKC, lower case, single blanks, no punctuation
 * around it. A text of nothing but punctuation keeps it.
 */
export function normalText(text: string): string {
  const folded = text.normalize("NFKC").toLowerCase().replace(/\s+/g, " ").trim();
  return INSIDE.exec(folded)?.[0] ?? folded;
}

import { labelKey, type SelfCheck } from "../../schemas/labels.ts";
import { createYielder } from "../../../shared/yielder.ts";
import { countItems } from "../text/overlap.ts";
import type { KeyAnnotator, LabelExample } from "./annotator.ts";
import { isSameLabel } from "./label.ts";

/** 95 %, one-sided. */
const Z = 1.645;

/**
 * Counts how many references of the batch an annotator labels correctly. `labels` is the number of
 * labels it chooses from.
 */
export async function checkAnnotator(
  annotator: Pick<KeyAnnotator, "relabel">,
  { examples, labels }: { examples: LabelExample[]; labels: number },
): Promise<SelfCheck> {
  const yieldIfDue = createYielder();
  let right = 0;
  for (const example of examples) {
    const found = await annotator.relabel(example);
    if (found !== undefined && isSameLabel(found, example.label)) right++;
    await yieldIfDue();
  }
  return {
    right,
    of: examples.length,
    accuracy: examples.length === 0 ? null : right / examples.length,
    floor: floorFor(examples, labels),
  };
}

/**
 * Halfway between the accuracy of guessing and 1. Guessing is to choose the most frequent label, or
 * any label at random if the references have only one.
 */
function floorFor(examples: LabelExample[], labels: number): number {
  const counts = countItems(examples.map(({ label }) => labelKey(label)));
  const most = Math.max(...counts.values()) / examples.length;
  const guess = counts.size > 1 ? most : 1 / Math.max(2, labels);
  return (1 + guess) / 2;
}

/**
 * Whether the labels cannot be trusted: the upper bound of the accuracy (Wilson, one-sided 95 %) is
 * below the floor.
 */
export function failsCheck({ right, of, floor }: SelfCheck): boolean {
  return of > 0 && wilsonUpper(right, of) < floor;
}

function wilsonUpper(right: number, of: number): number {
  const share = right / of;
  const square = Z ** 2 / of;
  const spread = Z * Math.sqrt(share * (1 - share) / of + square / (4 * of));
  return (share + square / 2 + spread) / (1 + square);
}

/** At most `count` items, evenly spread, and the same ones each time. */
export function spreadSample<Item>(items: Item[], count: number): Item[] {
  if (items.length <= count) return items;
  return Array.from({ length: count }, (_, i) => items[Math.floor(i * items.length / count)]!);
}

import type { Scenario } from "../../shared/schemas/evaluate.ts";
import type { Annotator } from "./annotator.ts";
import { createNearestLabelAnnotator } from "./nearest_label.ts";
import { sentimentAnnotator } from "./sentiment.ts";

/** Every annotator, in the order in which they are asked whether a key is theirs. */
export function createAnnotators(scenarios: Scenario[]): Annotator[] {
  return [sentimentAnnotator, createNearestLabelAnnotator(scenarios)];
}

import type { Scenario } from "../../shared/schemas/evaluate.ts";
import type { BatchSemantics } from "../batch_semantics.ts";
import type { Annotator } from "./annotator.ts";
import { createDialogueActAnnotator } from "./dialogue_act.ts";
import { createFewShotAnnotator } from "./few_shot.ts";
import { createSentimentAnnotator } from "./sentiment.ts";

/** Every annotator, in the order in which they are asked whether a key is theirs. */
export function createAnnotators(scenarios: Scenario[], semantics: BatchSemantics): Annotator[] {
  return [
    createSentimentAnnotator(scenarios, semantics),
    createDialogueActAnnotator(scenarios, semantics),
    createFewShotAnnotator(scenarios, semantics),
  ];
}

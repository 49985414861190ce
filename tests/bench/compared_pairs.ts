import { createBatchSemantics } from "../../eval/score/batch_semantics.ts";
import type { ScoredBatch, ScoreInput } from "../../eval/score/scores/scorer.ts";
import { meaning } from "../../eval/score/scores/semantic_similarity.ts";
import type { Interaction, Scenario } from "../../eval/test/scenario.ts";
import { sideBySide } from "./measure.ts";

export type Ports = Parameters<typeof createBatchSemantics>[1];

export interface Pair {
  reply: string;
  reference: string;
}

export interface Compared {
  score: number;
  contradicts: boolean;
}

/** Compares replies with their references as a run does. */
export async function compareAll<P extends Pair>(
  pairs: P[],
  ports: Ports,
): Promise<(P & Compared)[]> {
  const scenario = scenarioOf(pairs.map(({ reference }) => ({ reference_reply: reference })));
  const semantics = createBatchSemantics([scenario], ports);
  const scorer = meaning.forBatch({ semantics, changed: {} } as unknown as ScoredBatch)!;
  const compared: (P & Compared)[] = new Array(pairs.length);
  await sideBySide(pairs.entries(), 32, async ([index, pair]) => {
    const input = { interaction: scenario.interactions[index], reply: pair.reply } as ScoreInput;
    const { scores, fields } = await scorer.score(input);
    compared[index] = {
      ...pair,
      score: scores.semantic_similarity!.value!,
      contradicts: fields?.differs_in !== undefined,
    };
  });
  return compared;
}

/** A scenario that has only what is named of its turns. */
export function scenarioOf(
  turns: { [K in keyof Interaction]?: Interaction[K] | undefined }[],
): Scenario {
  const interactions = turns.map((turn, index) => ({
    id: String(index),
    user_message: "",
    agent_reply: "",
    interaction_type: "opening",
    reference_metadata: {},
    generated_metadata: {},
    ...turn,
  }));
  return { id: "bench", description: "", interactions: interactions as Interaction[] };
}

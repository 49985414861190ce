import { referenceOf } from "../../references.ts";
import { pairScorers } from "../mod.ts";
import type { RepliedTurn, Scorer } from "../scorer.ts";

/** The scores of the table in `mod.ts`: reply and reference, text by text. */
export const textPairs: Scorer = {
  describe: () => pairScorers.map(({ compare: _, longest: __, ...description }) => description),

  forBatch: ({ pairs }) => ({
    isRepeatable: true,
    plan: (interaction) => sameForAll(referenceOf(interaction) !== undefined),
    score({ interaction, reply }: RepliedTurn) {
      const reference = referenceOf(interaction);
      return reference === undefined
        ? { scores: sameForAll(null) }
        : pairs.compare({ reply, reference });
    },
  }),
};

function sameForAll<T>(value: T): Record<string, T> {
  return Object.fromEntries(pairScorers.map(({ name }) => [name, value]));
}

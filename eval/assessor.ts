import type { Interaction, Metadata, Scenario, Scores } from "../shared/schemas/evaluate.ts";
import type { Annotator } from "./metadata/annotator.ts";
import { createAnnotators } from "./metadata/mod.ts";
import type { Assessor } from "./runner.ts";
import { matchMetadata } from "./scores/metadata_match.ts";
import { scorers } from "./scores/mod.ts";
import { overall } from "./scores/overall.ts";

/** Annotates and scores the replies of one batch; the batch's own references teach the labels. */
export function createAssessor(scenarios: Scenario[]): Assessor {
  const annotators = createAnnotators(scenarios);
  return {
    async assess(interaction, reply) {
      const generatedMetadata = await annotate(annotators, interaction, reply);
      const scores: Scores = {};
      for (const scorer of scorers) {
        const input = { interaction, reply, generatedMetadata };
        scores[scorer.name] = scorer.applies(interaction) ? await scorer.score(input) : null;
      }
      Object.assign(scores, matchMetadata(interaction, { reply, generatedMetadata }));
      return { generatedMetadata, scores: { ...scores, overall: overall(scores) } };
    },

    // A score must never rise because the endpoint got worse: a failed turn counts 0 in every score
    // that it would have had, and in the headline even where it would have had none.
    failed(interaction) {
      const scores: Scores = {};
      for (const scorer of scorers) scores[scorer.name] = scorer.applies(interaction) ? 0 : null;
      Object.assign(scores, matchMetadata(interaction, { reply: "", generatedMetadata: {} }));
      return { ...scores, overall: 0 };
    },
  };
}

async function annotate(
  annotators: Annotator[],
  interaction: Interaction,
  text: string,
): Promise<Metadata> {
  const found: Metadata = {};
  for (const key of Object.keys(interaction.reference_metadata)) {
    const annotator = annotators.find((annotator) => annotator.handles(key));
    const value = await annotator?.annotate(key, { text, interaction });
    if (value !== undefined) found[key] = value;
  }
  return found;
}

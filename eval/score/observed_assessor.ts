import type { withSpan } from "../ask/observation.ts";
import type { Assessor } from "./assessment.ts";

/** The same assessor, with a span for each reply and an event for each of its scores. */
export function observeAssessor(assessor: Assessor, within: typeof withSpan): Assessor {
  return {
    ...assessor,
    assess: (interaction, ...reply) =>
      within(
        { name: "evaluate", attributes: { "assay.interaction.id": interaction.id } },
        async (span) => {
          const assessment = await assessor.assess(interaction, ...reply);
          for (const [name, value] of Object.entries(assessment.scores)) {
            if (typeof value !== "number") continue;
            span.addEvent("gen_ai.evaluation.result", {
              "gen_ai.evaluation.name": name,
              "gen_ai.evaluation.score.value": value,
            });
          }
          return assessment;
        },
      ),
  };
}

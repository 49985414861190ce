import type { EvaluateRequest } from "../../shared/schemas/evaluate_request.ts";
import type { RunNote } from "../../shared/schemas/evaluate_response.ts";
import { checksOf } from "../assess/checks/planned_checks.ts";
import { referenceOf } from "../assess/references.ts";
import { expectsTools } from "../assess/tools/expects_tools.ts";
import { SIMILARITY_LIMIT } from "../assess/scores/semantic_similarity.ts";

/** Notes on a run, from its request alone; `hasJudge` says whether a judge is configured. */
export function runNotes(
  { test_batch }: Pick<EvaluateRequest, "test_batch">,
  { hasJudge }: { hasJudge: boolean },
): RunNote[] {
  if (hasJudge) return [];
  const turns = test_batch.flatMap((scenario) =>
    scenario.interactions.map((interaction, turn) => ({ interaction, scenario, turn }))
  ).filter(({ interaction }) => referenceOf(interaction) !== undefined);
  const bare = turns.filter(({ interaction, scenario, turn }) =>
    Object.keys(interaction.reference_metadata).length === 0 &&
    checksOf(scenario, turn).length === 0 && !expectsTools(interaction)
  );
  if (bare.length === 0) return [];
  const which = bare.length === turns.length
    ? "every turn"
    : `${bare.length} of ${turns.length} turns`;
  return [{
    code: "similarity_alone",
    detail:
      `overall of ${which} is semantic_similarity alone, and ${SIMILARITY_LIMIT}; set JUDGE_*, ` +
      "give reference_metadata, or look at differs_in",
  }];
}

import type {
  AttemptResult,
  EvaluateRequest,
  EvaluateResponse,
  ScenarioResult,
} from "../shared/schemas/evaluate.ts";
import { averageScores } from "./statistics.ts";

/**
 * The answer to a request in the shape of spec 2.4, from the results by scenario and attempt.
 * Scenario averages are means over attempts, and the whole run's are means over scenarios.
 */
export function summarise(request: EvaluateRequest, results: AttemptResult[][]): EvaluateResponse {
  const { test_batch, attempts: _, protocol: __, parameters: ___, ...kept } = request;
  const scenarios = test_batch.map((scenario, index): ScenarioResult => {
    const { id, interactions: _, ...kept } = scenario;
    const attempts = results[index]!;
    return {
      ...kept,
      scenario_id: id,
      attempts,
      average_scores: averageScores(attempts.map((attempt) => attempt.average_scores)),
    };
  });
  const heading = {
    message: describeOutcome(scenarios),
    test_name: request.test_name ?? test_batch[0]!.id,
  };
  return {
    ...heading, // first for the reader, and once more so that a caller's own field cannot replace it
    ...kept,
    ...heading,
    results: {
      scenarios,
      average_scores: averageScores(scenarios.map((scenario) => scenario.average_scores)),
    },
  };
}

function describeOutcome(scenarios: ScenarioResult[]): string {
  let total = 0;
  let failed = 0;
  for (const { attempts } of scenarios) {
    for (const { interactions } of attempts) {
      total += interactions.length;
      failed += interactions.filter((interaction) => interaction.error).length;
    }
  }
  if (failed === 0) return "Evaluation completed successfully";
  return `Evaluation completed: ${failed} of ${total} interactions failed`;
}

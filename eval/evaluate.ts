import type {
  EvaluateRequest,
  EvaluateResponse,
  ScenarioResult,
} from "../shared/schemas/evaluate.ts";
import { type RunPorts, runScenarios } from "./runner.ts";
import { averageScores } from "./statistics.ts";

/** Runs a whole request and answers in the shape of spec 2.4. */
export async function evaluate(
  request: EvaluateRequest,
  ports: RunPorts,
): Promise<EvaluateResponse> {
  const { test_batch: scenarios, attempts, protocol: _, parameters: __, ...kept } = request;
  const results = await runScenarios({ scenarios, attempts }, ports);
  const scenarioResults = scenarios.map((scenario, index): ScenarioResult => {
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
    message: describeOutcome(scenarioResults),
    test_name: request.test_name ?? scenarios[0]!.id,
  };
  return {
    ...heading, // first for the reader, and once more so that a caller's own field cannot replace it
    ...kept,
    ...heading,
    results: {
      scenarios: scenarioResults,
      average_scores: averageScores(scenarioResults.map((scenario) => scenario.average_scores)),
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

import type {
  AttemptResult,
  EvaluateRequest,
  EvaluateResponse,
  Scenario,
  ScenarioResult,
} from "../shared/schemas/evaluate.ts";
import { reportLabels } from "./labels.ts";
import { createPacer } from "./pacer.ts";
import { passRates } from "./pass_rates.ts";
import {
  aggregateScores,
  aggregateScoresInPieces,
  type ScoredTurn,
  toScoredTurn,
} from "./statistics.ts";

/**
 * The answer to a request in the shape of spec 2.4, from the results by scenario and attempt. A
 * scenario's averages, and the whole run's, are taken over all the turns below them. A long answer
 * is made in pieces, between which the event loop turns.
 */
export async function summarise(
  request: EvaluateRequest,
  results: AttemptResult[][],
): Promise<EvaluateResponse> {
  const { test_batch, attempts: _, protocol: __, parameters: ___, ...kept } = request;
  const pace = createPacer();
  const scenarios: ScenarioResult[] = [];
  const turns: ScoredTurn[] = [];
  let attemptsBefore = 0;
  for (const [index, scenario] of test_batch.entries()) {
    const attempts = results[index]!;
    const ownTurns = poolTurns(attempts, attemptsBefore);
    scenarios.push(summariseScenario(scenario, attempts, { turns: ownTurns, request }));
    for (const turn of ownTurns) turns.push(turn);
    attemptsBefore += attempts.length;
    await pace();
  }
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
      ...await aggregateScoresInPieces(turns),
      labels: reportLabels(results),
    },
  };
}

function summariseScenario(
  { id, interactions: _, ...kept }: Scenario,
  attempts: AttemptResult[],
  { turns, request }: { turns: ScoredTurn[]; request: EvaluateRequest },
): ScenarioResult {
  const overall = attempts.map((attempt) => attempt.average_scores.overall ?? null);
  return {
    ...kept,
    scenario_id: id,
    attempts,
    ...aggregateScores(turns),
    ...passRates(overall, request.pass_threshold),
    labels: reportLabels([attempts]),
  };
}

/** The turns of all attempts, those of one attempt as one cluster. */
function poolTurns(attempts: AttemptResult[], firstCluster: number): ScoredTurn[] {
  return attempts.flatMap(({ interactions }, attempt) =>
    interactions.map((result) => toScoredTurn(result, firstCluster + attempt))
  );
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

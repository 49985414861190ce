import type { Scores } from "../../shared/schemas/evaluate.ts";
import { createAverager } from "./averager.ts";
import type { ExportSource } from "./format.ts";
import { type Outcome, outcomeOf } from "./outcome.ts";

/** Turns by what became of them, and the time that the endpoint took for them. */
export type Counts = Record<Outcome, number> & { turns: number; latencyMs: number };

export interface ScenarioDigest extends Counts {
  /** The scenario's id; the second of the same id has ` (2)` after it. */
  label: string;
  attempts: number;
  averages: Scores;
}

/** A run in numbers. What it holds grows with the scenarios, not with their attempts. */
export interface RunDigest extends Counts {
  scenarios: ScenarioDigest[];
  averages: Scores;
  /** Every score that any turn names, also where it never applied. */
  scoreNames: string[];
  /** How many calls failed with each code. */
  errors: Map<string, number>;
}

/** Reads a run once. Averages are a scenario's over its turns, and the run's over its scenarios. */
export async function digestRun(source: ExportSource): Promise<RunDigest> {
  const scenarios = labelScenarios(source.run.request.test_batch).map((label): ScenarioDigest => ({
    label,
    attempts: 0,
    averages: {},
    ...noCounts(),
  }));
  const total = noCounts();
  const ofScenarios = scenarios.map(() => createAverager());
  const errors = new Map<string, number>();
  for await (const { scenario: index, attempt, result } of source.turns()) {
    const scenario = scenarios[index]!;
    const outcome = outcomeOf(result, source.threshold);
    for (const counts of [scenario, total]) {
      counts.turns++;
      counts[outcome]++;
      counts.latencyMs += result.latency_ms;
    }
    scenario.attempts = Math.max(scenario.attempts, attempt + 1);
    ofScenarios[index]!.add(result.scores);
    if (result.error) errors.set(result.error.code, (errors.get(result.error.code) ?? 0) + 1);
  }
  const ofRun = createAverager();
  for (const [index, scenario] of scenarios.entries()) {
    scenario.averages = ofScenarios[index]!.averages();
    ofRun.add(scenario.averages);
  }
  const averages = ofRun.averages();
  return { ...total, scenarios, averages, scoreNames: Object.keys(averages), errors };
}

function noCounts(): Counts {
  return { turns: 0, passed: 0, below: 0, failed: 0, unscored: 0, latencyMs: 0 };
}

/** Names that tell scenarios apart: readers of reports take two of one name for the same. */
function labelScenarios(batch: { id: string }[]): string[] {
  const seen = new Map<string, number>();
  return batch.map(({ id }) => {
    const times = (seen.get(id) ?? 0) + 1;
    seen.set(id, times);
    return times === 1 ? id : `${id} (${times})`;
  });
}

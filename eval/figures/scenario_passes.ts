import type { StoredRun } from "../store/run_record.ts";
import { createWholeReader, type TurnReader } from "../store/whole_reader.ts";
import { outcomeOf, type PassCounts } from "./passing.ts";
import type { CountedAttempt } from "./summary/summary.ts";
import { PASSING, resultParts } from "./scenario_results.ts";

interface ScenarioPasses extends PassCounts {
  /** Attempts that do not pass only because a score is missing. */
  unknown: number;
}

/** How many attempts at each scenario passed, by its id; scenarios of one id count together. */
export async function countScenarioPasses(
  reader: TurnReader,
  run: StoredRun,
  threshold: number,
): Promise<Map<string, ScenarioPasses>> {
  const request = { ...run.request, pass_threshold: threshold };
  const whole = createWholeReader(reader, run);
  const counts = new Map<string, ScenarioPasses>();
  let id = "";
  for await (const parts of resultParts(whole, { ...run, request }, { attemptScores: PASSING })) {
    for (const part of parts) {
      if (part.kind === "scenario") ({ id } = request.test_batch[part.index]!);
      if (part.kind !== "scenario end") continue;
      const { attempts = 0, passed = 0, unknown = 0 } = counts.get(id) ?? {};
      counts.set(id, {
        attempts: attempts + part.passes.attempts,
        passed: passed + part.passes.passed,
        unknown: unknown + part.attempts.filter(isUnknown).length,
      });
    }
  }
  return counts;

  function isUnknown({ interactions }: CountedAttempt): boolean {
    const outcomes = new Set(interactions.map((turn) => outcomeOf(turn, threshold)));
    return outcomes.has("missing") && !outcomes.has("below") && !outcomes.has("failed");
  }
}

/**
 * The scenarios that passed in every attempt of the baseline and in none of the candidate. It holds
 * with and without the attempts that lack a score: a judge that is down makes nothing fail anew.
 */
export async function findNewFailures(
  reader: TurnReader,
  { baseline, candidate, threshold }: {
    baseline: StoredRun;
    candidate: StoredRun;
    /** For both runs. */
    threshold: number;
  },
): Promise<string[]> {
  const before = await countScenarioPasses(reader, baseline, threshold);
  const now = await countScenarioPasses(reader, candidate, threshold);
  return [...now].filter(([id, { attempts, passed, unknown }]) => {
    const earlier = before.get(id);
    return earlier && earlier.attempts > 0 && earlier.passed === earlier.attempts &&
      attempts > unknown && passed === 0;
  }).map(([id]) => id);
}

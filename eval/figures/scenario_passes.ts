import type { StoredRun } from "../store/run_record.ts";
import { createWholeReader, type TurnReader } from "../store/whole_reader.ts";
import type { PassCounts } from "./passing.ts";
import { PASSING, resultParts } from "./scenario_results.ts";

/** How many attempts at each scenario passed, by its id; scenarios of one id count together. */
export async function countScenarioPasses(
  reader: TurnReader,
  run: StoredRun,
  threshold: number,
): Promise<Map<string, PassCounts>> {
  const request = { ...run.request, pass_threshold: threshold };
  const whole = createWholeReader(reader, run);
  const counts = new Map<string, PassCounts>();
  let id = "";
  for await (const parts of resultParts(whole, { ...run, request }, { attemptScores: PASSING })) {
    for (const part of parts) {
      if (part.kind === "scenario") ({ id } = request.test_batch[part.index]!);
      if (part.kind !== "scenario end") continue;
      const { attempts = 0, passed = 0 } = counts.get(id) ?? {};
      counts.set(id, {
        attempts: attempts + part.passes.attempts,
        passed: passed + part.passes.passed,
      });
    }
  }
  return counts;
}

/** The scenarios that passed in every attempt of the baseline and in none of the candidate. */
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
  return [...now].filter(([id, { attempts, passed }]) => {
    const earlier = before.get(id);
    return earlier && earlier.attempts > 0 && earlier.passed === earlier.attempts &&
      attempts > 0 && passed === 0;
  }).map(([id]) => id);
}

import type { Scenario } from "../test/scenario.ts";
import type { EvaluateRequest } from "../test/evaluate_request.ts";
import { type PassCounts, thresholdOf } from "../figures/passing.ts";
import type { RunReader } from "../store/store.ts";
import { UsageError } from "./command.ts";
import type { CliContext } from "./context.ts";
import { findRun } from "./find_run.ts";
import { PASSING, resultParts } from "../figures/scenario_results.ts";
import type { StoredRun } from "../store/run_record.ts";
import { createWholeReader, type TurnReader } from "../store/whole_reader.ts";

const FAILED = "failed:";

/**
 * Keeps only the scenarios that `--only` names: by id, by one of their `tags`, or those that did not
 * pass in every attempt of a run (`failed:RUN`). The request records it, because the result of a part
 * cannot be the baseline of a whole batch. Throws `UsageError` if a word names no scenario.
 */
export async function selectScenarios(
  request: EvaluateRequest,
  { only, context }: { only: string[]; context: Pick<CliContext, "openReader"> },
): Promise<void> {
  const wanted = new Set<Scenario>();
  for (const word of only) {
    const failed = word.startsWith(FAILED)
      ? await findFailed(word.slice(FAILED.length), request, context)
      : undefined;
    const found = request.test_batch.filter((scenario) =>
      failed ? failed.has(scenario.id) : scenario.id === word || tagsOf(scenario).includes(word)
    );
    if (found.length === 0) {
      throw new UsageError(
        failed
          ? `--only ${word}: no scenario of the batch failed there`
          : `--only ${word}: no scenario of the batch has this id or tag`,
      );
    }
    for (const scenario of found) wanted.add(scenario);
  }
  request.test_batch = request.test_batch.filter((scenario) => wanted.has(scenario));
  request.only = only;
}

function tagsOf({ tags }: Scenario): unknown[] {
  return Array.isArray(tags) ? tags : [];
}

async function findFailed(
  name: string,
  request: EvaluateRequest,
  context: Pick<CliContext, "openReader">,
): Promise<Set<string>> {
  await using reader: RunReader = await context.openReader();
  const run = await findRun(reader, name);
  const threshold = thresholdOf(request.pass_threshold === undefined ? run.request : request);
  const passes = await countScenarioPasses(reader, run, threshold);
  return new Set(
    [...passes].filter(([, { attempts, passed }]) => passed < attempts).map(([id]) => id),
  );
}

/** How many attempts at each scenario passed, by its id; scenarios of one id count together. */
async function countScenarioPasses(
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

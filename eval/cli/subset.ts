import type { Scenario } from "../schemas/scenario.ts";
import { countScenarioPasses } from "../compare/new_failures.ts";
import type { EvaluateRequest } from "../schemas/evaluate_request.ts";
import { thresholdOf } from "../results/outcome.ts";
import type { RunReader } from "../store/store.ts";
import { UsageError } from "./command.ts";
import type { CliContext } from "./context.ts";
import { findRun } from "./find_run.ts";

const FAILED = "failed:";

/**
 * Leaves of a request the scenarios that `--only` names: by id, by one of their `tags`, or those that
 * did not pass in every attempt of a run (`failed:RUN`). The request says so, because the result of a
 * part is no baseline of the whole. Throws `UsageError` if a word names none.
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

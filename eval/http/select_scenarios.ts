import { invalidField } from "../../shared/service/errors.ts";
import { thresholdOf } from "../figures/passing.ts";
import { countScenarioPasses } from "../figures/scenario_passes.ts";
import { requireRun } from "../store/require_run.ts";
import type { RunReader } from "../store/store.ts";
import type { EvaluateRequest } from "../test/evaluate_request.ts";
import type { Scenario } from "../test/scenario.ts";

const FAILED = "failed:";

/**
 * The scenarios that `only` names: by id, by one of their `tags`, or those that did not pass in
 * every attempt of a run (`failed:RUN`). Throws 400 if a word names no scenario.
 */
export async function selectScenarios(
  { only = [], test_batch, pass_threshold }: EvaluateRequest,
  reader: RunReader,
): Promise<Scenario[]> {
  const wanted = new Set<Scenario>();
  for (const word of only) {
    const failed = word.startsWith(FAILED)
      ? await findFailed(word.slice(FAILED.length))
      : undefined;
    const found = test_batch.filter((scenario) =>
      failed ? failed.has(scenario.id) : scenario.id === word || tagsOf(scenario).includes(word)
    );
    if (found.length === 0) {
      const why = failed ? "failed there" : "has this id or tag";
      throw invalidField("only", `${word}: no scenario of the batch ${why}`);
    }
    for (const scenario of found) wanted.add(scenario);
  }
  return test_batch.filter((scenario) => wanted.has(scenario));

  async function findFailed(name: string): Promise<Set<string>> {
    const run = await requireRun(reader, name);
    const threshold = pass_threshold ?? thresholdOf(run.request);
    const passes = await countScenarioPasses(reader, run, threshold);
    return new Set(
      [...passes].filter(([, { attempts, passed }]) => passed < attempts).map(([id]) => id),
    );
  }
}

function tagsOf({ tags }: Scenario): unknown[] {
  return Array.isArray(tags) ? tags : [];
}

import { createRetries } from "../../run/manager/retries.ts";
import { UsageError } from "../command.ts";
import type { CliContext } from "../context.ts";
import { findRun } from "../find_run.ts";
import { findBaseline, type PassCriteria } from "../pass_criteria.ts";
import { followRun } from "../report/follow_run.ts";

/**
 * Runs what failed in a stored run once more, in a run of its own with the other turns of the first.
 * Throws `UsageError` if nothing failed.
 */
export async function retryFailed(
  name: string,
  { wanted, context }: { wanted: PassCriteria; context: CliContext },
): Promise<number> {
  await using store = await context.openStore({ isForRuns: true, mustExist: true });
  const parent = await findRun(store, name);
  const criteria = await findBaseline(wanted, { reader: store, candidate: parent, context });
  const manager = await context.createManager(store, criteria.concurrency);
  const retries = createRetries({
    store,
    runs: manager,
    endpoints: { requireAllowed: () => context.requireAllowed(parent.request) },
  });
  if (!await retries.isWanted(parent)) {
    throw new UsageError(`nothing to retry: every turn of run ${parent.id} is answered and scored`);
  }
  retries.requirePossible(parent);
  const { id: parentId, testName } = parent;
  const request = { ...parent.request, ...criteria.budget && { budget: criteria.budget } };
  const started = await manager.start({ request, testName, parentId });
  if (started.outcome !== "started") throw new Error("a run without a key already exists");
  context.err.write(`run ${started.active.run.id}\n`);
  return await followRun(started.active, { criteria, manager, store, context });
}

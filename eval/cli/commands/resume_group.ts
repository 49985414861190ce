import type { ActiveRun } from "../../run/manager/active_run.ts";
import type { RunStore } from "../../store/store.ts";
import type { CliContext } from "../context.ts";
import { followGroup } from "../report/follow_group.ts";
import { findBaseline, type PassCriteria } from "../pass_criteria.ts";
import { reportGroup } from "../report/report_group.ts";

/** Continues the runs of a group that were stopped, and reports on all of them. */
export async function resumeGroup(
  id: string,
  { wanted, store, context }: { wanted: PassCriteria; store: RunStore; context: CliContext },
): Promise<number> {
  const members = await store.groupRuns(id);
  const candidate = (await store.getRun(members[0]!.id))!;
  const criteria = await findBaseline(wanted, { reader: store, candidate, context });
  const stopped = members.filter(({ status }) => status !== "completed");
  if (stopped.length === 0) {
    context.err.write(`group ${id} is complete; nothing is left to run\n`);
    return await reportGroup(id, criteria, { store, context });
  }
  const runs = await Promise.all(stopped.map(async (run) => (await store.getRun(run.id))!));
  for (const { request } of runs) {
    context.requireAllowed(request);
    if (criteria.budget) request.budget = criteria.budget;
  }
  const manager = await context.createManager(store, criteria.concurrency);
  const active: ActiveRun[] = await Promise.all(runs.map((run) => manager.resume(run)));
  return await followGroup(id, { active, criteria, manager, store, context });
}

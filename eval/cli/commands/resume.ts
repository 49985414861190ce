import { parseArguments } from "../arguments.ts";
import { type Command, UsageError } from "../command.ts";
import { findRun, isGroup } from "../find_run.ts";
import { followGroup, followRun } from "../report/follow.ts";
import {
  CRITERIA_HELP,
  criteriaOptions,
  findBaseline,
  parsePassCriteria,
  type PassCriteria,
} from "../pass_criteria.ts";
import { reportGroup, reportRun } from "../report/report.ts";
import type { RunStore } from "../../store/store.ts";
import type { CliContext } from "../context.ts";

export const resume: Command = {
  summary: "continue a run that was stopped",
  help: `assay-eval resume RUN [options]
assay-eval resume GROUP [options]

Runs the turns that are left of a run that was stopped or died, and reports on
all of them. Finished turns are not run again. RUN is an id, "latest", or
"tag:NAME". GROUP is the id of a group: all its runs that were stopped continue.

${CRITERIA_HELP}

Exit code: the same as for "assay-eval run".

Example:
  assay-eval resume latest --threshold 0.8 --output report.xml
`,

  async execute(args, context) {
    const { values, positionals: [name = ""] } = parseArguments(args, {
      options: criteriaOptions,
      names: ["RUN"],
    });
    const wanted = await parsePassCriteria(values, context, { comparesModels: true });
    await using store = await context.openStore({ isForRuns: true, mustExist: true });
    if (await isGroup(store, name)) return await resumeGroup(name, { wanted, store, context });
    if (wanted.decideBy !== undefined && wanted.baseline === undefined) {
      throw new UsageError("--score requires --baseline");
    }
    const run = await findRun(store, name);
    const criteria = await findBaseline(wanted, { reader: store, candidate: run, context });
    if (run.status === "completed") {
      context.err.write(`run ${run.id} is complete; nothing is left to run\n`);
      return await reportRun(run, criteria, { store, context });
    }
    context.requireAllowed(run.request);
    if (criteria.budget) run.request.budget = criteria.budget;
    const manager = await context.createManager(store, criteria.concurrency);
    return await followRun(await manager.resume(run), { criteria, manager, store, context });
  },
};

/** Continues the runs of a group that were stopped, and reports on all of them. */
async function resumeGroup(
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
  const active = await Promise.all(runs.map((run) => manager.resume(run)));
  return await followGroup(id, { active, criteria, manager, store, context });
}

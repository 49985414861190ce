import { parseArguments } from "../arguments.ts";
import { type Command, UsageError } from "../command.ts";
import { findRun } from "../find_run.ts";
import { followRun } from "../report/follow_run.ts";
import {
  CRITERIA_HELP,
  criteriaOptions,
  findBaseline,
  parsePassCriteria,
} from "../pass_criteria.ts";
import { reportRun } from "../report/report_run.ts";
import { resumeGroup } from "./resume_group.ts";
import { isGroup } from "../stored_groups.ts";

/** Continues a run that was stopped. */
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

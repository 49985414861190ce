import { parseArguments } from "./arguments.ts";
import { type Command, UsageError } from "./command.ts";
import { findRun } from "./find_run.ts";
import { followRun } from "./follow_run.ts";
import {
  CRITERIA_HELP,
  criteriaOptions,
  findBaseline,
  parsePassCriteria,
} from "./pass_criteria.ts";
import { reportRun } from "./report_run.ts";

/** Goes on with a run that was stopped. */
export const resume: Command = {
  summary: "go on with a run that was stopped",
  help: `assay-eval resume RUN [options]

Asks what is left of a run that was stopped or died, and judges the whole. What
was answered before is not asked again. RUN is an id, or "latest".

${CRITERIA_HELP}

Exit code: as "assay-eval run" has it.

Example:
  assay-eval resume latest --threshold 0.8 --output report.xml
`,

  async execute(args, context) {
    const { values, positionals: [name = ""] } = parseArguments(args, {
      options: criteriaOptions,
      names: ["RUN"],
    });
    const wanted = await parsePassCriteria(values, context);
    const store = await context.openStore();
    try {
      const run = await findRun(store, name);
      const criteria = await findBaseline(wanted, store);
      if (criteria.baseline === run.id) throw new UsageError("a run cannot be its own baseline");
      if (run.status === "completed") {
        context.err.write(`run ${run.id} is complete; nothing is left to ask\n`);
        return await reportRun(run, criteria, { reader: store, context });
      }
      context.requireAllowed(run.request);
      const manager = context.createManager(store, criteria.concurrency);
      return await followRun(await manager.resume(run), { criteria, manager, store, context });
    } finally {
      await store.close();
    }
  },
};

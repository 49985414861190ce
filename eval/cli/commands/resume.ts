import { connect, runPath } from "../api.ts";
import { parseArguments } from "../arguments.ts";
import { type Command, UsageError } from "../command.ts";
import { CRITERIA_HELP, criteriaOptions, findBaselineOf, parseCriteria } from "../criteria.ts";
import { finish, report, type Started } from "../follow.ts";

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
    const criteria = await parseCriteria(values, context, { comparesModels: true });
    const { concurrency, budget } = criteria;
    await using api = await connect(context, { access: "write", concurrency });
    const group = await api.group(name);
    if (!group && values.score !== undefined && values.baseline === undefined) {
      throw new UsageError("--score requires --baseline");
    }
    const runs = group?.runs ?? [await api.run(name)];
    const started: Started = group ? { group_id: name, runs } : runs[0]!;
    await findBaselineOf(runs[0]!.run_id, criteria, { api, context });
    const stopped = runs.filter(({ status }) => status !== "completed");
    if (stopped.length === 0) {
      const what = group ? `group ${name}` : `run ${runs[0]!.run_id}`;
      context.err.write(`${what} is complete; nothing is left to run\n`);
      return await report(started, criteria, { api, context });
    }
    for (const { run_id } of stopped) {
      await api.call(`POST ${runPath(run_id)}/resume`, { body: { budget } });
    }
    return await finish(started, criteria, { api, context });
  },
};

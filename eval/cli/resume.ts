import { parseArguments } from "./arguments.ts";
import { type Command, UsageError } from "./command.ts";
import { findRun } from "./find_run.ts";
import { followRun } from "./follow_run.ts";
import { findBaseline, GATE_HELP, gateOptions, parseGate } from "./gate.ts";
import { judgeRun } from "./judge_run.ts";

/** Goes on with a run that was stopped. */
export const resume: Command = {
  summary: "go on with a run that was stopped",
  help: `assay-eval resume RUN [options]

Asks what is left of a run that was stopped or died, and judges the whole. What
was answered before is not asked again. RUN is an id, or "latest".

${GATE_HELP}

Exit code: as "assay-eval run" has it.

Example:
  assay-eval resume latest --threshold 0.8 --output report.xml
`,

  async execute(args, world) {
    const { values, positionals: [name = ""] } = parseArguments(args, {
      options: gateOptions,
      names: ["RUN"],
    });
    const wanted = await parseGate(values, world);
    const store = await world.openStore();
    try {
      const run = await findRun(store, name);
      const gate = await findBaseline(wanted, store);
      if (gate.baseline === run.id) throw new UsageError("a run cannot be its own baseline");
      if (run.status === "completed") {
        world.err.write(`run ${run.id} is complete; nothing is left to ask\n`);
        return await judgeRun(run, gate, { reader: store, world });
      }
      world.requireAllowed(run.request);
      const manager = world.createManager(store, gate.concurrency);
      return await followRun(await manager.resume(run), { gate, manager, store, world });
    } finally {
      await store.close();
    }
  },
};

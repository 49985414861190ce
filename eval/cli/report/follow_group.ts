import { groupProgress } from "../../groups/group_views.ts";
import type { ActiveRun } from "../../run/manager/active_run.ts";
import type { RunManager } from "../../run/manager/manager.ts";
import type { RunStore } from "../../store/store.ts";
import { EXIT } from "../command.ts";
import type { CliContext } from "../context.ts";
import type { PassCriteria } from "../pass_criteria.ts";
import { createProgressDisplay } from "../process/progress.ts";
import { reportGroup } from "./report_group.ts";
import { stopByInterrupts } from "../process/stop_by_interrupts.ts";

interface Following {
  /** The runs that are running; the others have ended. */
  active: ActiveRun[];
  criteria: PassCriteria;
  manager: RunManager;
  store: RunStore;
  context: CliContext;
}

/** Shows the progress of a group until its runs end, and then its result; see `followRun`. */
export async function followGroup(id: string, following: Following): Promise<number> {
  const { active, manager, store, context, criteria } = following;
  const display = createProgressDisplay(context.err, context.now);
  const progress = () => groupProgress(active.map((run) => run.progress()));
  const isRunning = (run: ActiveRun) => manager.active(run.run.id) === run;
  using interrupts = stopByInterrupts(active, following);

  for (let running = active.filter(isRunning); running.length > 0;) {
    display.update(progress());
    await Promise.race(running.map((run) => run.changed()));
    running = active.filter(isRunning);
  }
  display.close(progress());

  const isStopped = interrupts.first.aborted;
  for (const { run, ended, tally } of active) {
    const { status, error } = await ended;
    if (status === "completed") continue;
    if (isStopped && status !== "failed") {
      await store.setStatus(run.id, { status: "interrupted", tally: tally() });
    } else {
      const reason = error instanceof Error ? error.message : status;
      context.err.write(`the run of ${run.group!.name} stopped: ${reason}\n`);
    }
  }
  const members = await store.groupRuns(id);
  if (members.every(({ status }) => status === "completed")) {
    return await reportGroup(id, criteria, { store, context });
  }
  const completed = members.filter(({ status }) => status === "completed").length;
  context.err.write(
    `${completed} of ${members.length} models are complete; ` +
      `continue with: assay-eval resume ${id}\n`,
  );
  return isStopped ? EXIT.interrupted : EXIT.error;
}

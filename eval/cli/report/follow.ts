import { addProgress } from "../../figures/compare_stored.ts";
import type { ActiveRun } from "../../run/active_run.ts";
import type { RunManager } from "../../run/manager.ts";
import type { NewRun, RunStore } from "../../store/store.ts";
import { EXIT } from "../command.ts";
import type { CliContext } from "../context.ts";
import type { PassCriteria } from "../pass_criteria.ts";
import { createProgressDisplay } from "../process/progress.ts";

export interface Following {
  criteria: PassCriteria;
  manager: RunManager;
  store: RunStore;
  context: CliContext;
}

/** Starts a run, and follows it to its end. */
export async function startRun(
  run: NewRun,
  { onStart, ...following }: Following & { onStart?: (id: string) => void },
): Promise<number> {
  const started = await following.manager.start(run);
  if (started.outcome !== "started") throw new Error("a run without a key already exists");
  following.context.err.write(`run ${started.active.run.id}\n`);
  onStart?.(started.active.run.id);
  return await followRun(started.active, following);
}

/** Shows the progress of a run until it ends, or is stopped by Ctrl-C, and then its result. */
export async function followRun(active: ActiveRun, following: Following): Promise<number> {
  const { store, context, criteria } = following;
  const { run: { id } } = active;
  const isStopped = await follow([active], { ...following, nameOf: () => "run" });
  const { status } = await active.ended;
  if (status === "completed") {
    const { reportRun } = await import("./report.ts");
    return await reportRun((await store.getRun(id))!, criteria, { store, context });
  }
  const { done, total } = active.progress();
  context.err.write(
    `${done} of ${total} turns are stored; continue with: assay-eval resume ${id}\n`,
  );
  return isStopped && status !== "failed" ? EXIT.interrupted : EXIT.error;
}

/** The same for a group, of which `active` are the runs that have not ended. */
export async function followGroup(
  id: string,
  { active, ...following }: Following & { active: ActiveRun[] },
): Promise<number> {
  const { store, context, criteria } = following;
  const nameOf = ({ run }: ActiveRun) => `run of ${run.group!.name}`;
  const isStopped = await follow(active, { ...following, nameOf });
  const members = await store.groupRuns(id);
  const completed = members.filter(({ status }) => status === "completed").length;
  if (completed === members.length) {
    const { reportGroup } = await import("./report.ts");
    return await reportGroup(id, criteria, { store, context });
  }
  context.err.write(
    `${completed} of ${members.length} models are complete; ` +
      `continue with: assay-eval resume ${id}\n`,
  );
  return isStopped ? EXIT.interrupted : EXIT.error;
}

/**
 * Follows runs until they end, and says whether Ctrl-C was pressed. The first one lets running calls
 * finish, since they are paid for; the second aborts them. Either way, finished turns stay stored.
 */
async function follow(
  active: ActiveRun[],
  { manager, store, context, nameOf }: Following & { nameOf: (run: ActiveRun) => string },
): Promise<boolean> {
  const display = createProgressDisplay(context.err, context.now);
  const progress = () => addProgress(active.map((run) => run.progress()));
  const isRunning = (run: ActiveRun) => manager.active(run.run.id) === run;
  using interrupts = context.watchInterrupts();
  interrupts.first.addEventListener("abort", () => {
    context.err.write("\nstopping after the running calls; press Ctrl-C again to stop at once\n");
    manager.stop();
  });
  interrupts.second.addEventListener("abort", () => {
    for (const run of active) run.cancel("stopped by Ctrl-C");
  });

  for (let running = active.filter(isRunning); running.length > 0;) {
    display.update(progress());
    await Promise.race(running.map((run) => run.changed()));
    running = active.filter(isRunning);
  }
  display.close(progress());

  const isStopped = interrupts.first.aborted;
  for (const run of active) {
    const { status, error } = await run.ended;
    if (status === "completed") continue;
    if (isStopped && status !== "failed") {
      await store.setStatus(run.run.id, { status: "interrupted", tally: run.tally() });
    } else {
      const reason = error instanceof Error ? error.message : status;
      context.err.write(`the ${nameOf(run)} stopped: ${reason}\n`);
    }
  }
  return isStopped;
}

import type { ActiveRun } from "../../run/manager/active_run.ts";
import type { RunManager } from "../../run/manager/manager.ts";
import type { RunStore } from "../../store/store.ts";
import { EXIT } from "../command.ts";
import type { CliContext } from "../context.ts";
import type { PassCriteria } from "../pass_criteria.ts";
import { createProgressDisplay } from "../process/progress.ts";
import { stopByInterrupts } from "../process/stop_by_interrupts.ts";

interface Following {
  criteria: PassCriteria;
  manager: RunManager;
  store: RunStore;
  context: CliContext;
}

/** Shows the progress of a run until it ends, or is stopped by Ctrl-C, and then its result. */
export async function followRun(active: ActiveRun, following: Following): Promise<number> {
  const { manager, store, context, criteria } = following;
  const { run: { id } } = active;
  const display = createProgressDisplay(context.err, context.now);
  using interrupts = stopByInterrupts([active], following);

  const isRunning = () => manager.active(id) === active;
  while (isRunning()) {
    display.update(active.progress());
    await active.changed();
  }
  display.close(active.progress());

  const { status, error } = await active.ended;
  if (status === "completed") {
    const { reportRun } = await import("./report_run.ts");
    return await reportRun((await store.getRun(id))!, criteria, { store, context });
  }
  const isStopped = interrupts.first.aborted && status !== "failed";
  if (isStopped) await store.setStatus(id, { status: "interrupted", tally: active.tally() });
  else context.err.write(`the run stopped: ${error instanceof Error ? error.message : status}\n`);
  const { done, total } = active.progress();
  context.err.write(
    `${done} of ${total} turns are stored; continue with: assay-eval resume ${id}\n`,
  );
  return isStopped ? EXIT.interrupted : EXIT.error;
}

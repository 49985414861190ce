import type { ActiveRun } from "../../run/manager/active_run.ts";
import type { RunManager } from "../../run/manager/manager.ts";
import type { CliContext, Interrupts } from "../context.ts";

/**
 * Stops runs by Ctrl-C until it is disposed of. The first lets running calls finish, since they are
 * paid for; the second aborts them. Either way, finished turns stay stored.
 */
export function stopByInterrupts(
  active: ActiveRun[],
  { manager, context }: { manager: RunManager; context: CliContext },
): Interrupts {
  const interrupts = context.watchInterrupts();
  for (const run of active) run.detach(); // so that they stop with the manager
  interrupts.first.addEventListener("abort", () => {
    context.err.write("\nstopping after the running calls; press Ctrl-C again to stop at once\n");
    manager.stop();
  });
  interrupts.second.addEventListener("abort", () => {
    for (const run of active) run.cancel("stopped by Ctrl-C");
  });
  return interrupts;
}

import type { ActiveRun } from "../run/active_run.ts";
import type { RunManager } from "../run/manager.ts";
import type { RunStore } from "../store/store.ts";
import { EXIT } from "./command.ts";
import type { Gate } from "./gate.ts";
import { judgeRun } from "./judge_run.ts";
import { createProgressDisplay } from "./progress.ts";
import type { CliWorld } from "./world.ts";

interface Following {
  gate: Gate;
  manager: RunManager;
  store: RunStore;
  world: CliWorld;
}

/**
 * Shows a run until it ends, and then its result. The first Ctrl-C lets the calls under way finish,
 * since they are paid for; the second does not. Either way what was answered stays stored.
 */
export async function followRun(active: ActiveRun, following: Following): Promise<number> {
  const { manager, store, world, gate } = following;
  const { run: { id } } = active;
  const display = createProgressDisplay(world.err, world.now);
  using interrupts = world.watchInterrupts();
  active.detach(); // so that it stops with the manager
  interrupts.first.addEventListener("abort", () => {
    world.err.write("\nstopping after the calls under way; Ctrl-C again stops at once\n");
    manager.stop();
  });
  interrupts.second.addEventListener("abort", () => active.cancel("stopped by Ctrl-C"));

  while (manager.active(id) === active) {
    display.update(active.progress());
    await active.changed();
  }
  display.close(active.progress());

  const { status, error } = await active.ended;
  if (status === "completed") {
    return await judgeRun((await store.getRun(id))!, gate, { reader: store, world });
  }
  const isStopped = interrupts.first.aborted;
  if (isStopped) await store.setStatus(id, { status: "interrupted", tally: active.tally() });
  else world.err.write(`the run stopped: ${error instanceof Error ? error.message : status}\n`);
  const { done, total } = active.progress();
  world.err.write(`${done} of ${total} turns are stored; go on with: assay-eval resume ${id}\n`);
  return isStopped ? EXIT.interrupted : EXIT.error;
}

import type { Logger } from "../log.ts";
import type { WorkerEvent } from "./worker_call.ts";

/** Failed starts in a row after which a worker counts as down. */
const DOWN_AFTER_FAILED_STARTS = 2;

/** The state of a process's workers. */
export interface WorkerBoard {
  /** For the `onEvent` of one worker; several workers may have the same name. */
  watch(name: string): (event: WorkerEvent) => void;
  /** Restarts by name, of every name that is watched. */
  readonly restarts: ReadonlyMap<string, number>;
  /** Names the workers that cannot be started, with the reasons; `undefined` if all can. */
  check(): string | undefined;
}

/** Logs each death and recovery, counts restarts and knows which workers are down. */
export function createWorkerBoard(log: Logger): WorkerBoard {
  const restarts = new Map<string, number>();
  const down = new Map<symbol, string>();
  return {
    restarts,
    watch(name) {
      const worker = Symbol(name);
      restarts.set(name, restarts.get(name) ?? 0);
      return (event) => {
        if (event.kind === "restarted") restarts.set(name, restarts.get(name)! + 1);
        if (event.kind === "recovered") {
          down.delete(worker);
          log.info("worker recovered", { worker: name });
        }
        if (event.kind === "died") {
          const { reason, deaths, failedStarts, retryInMs } = event;
          log.error("worker died", { worker: name, reason, deaths, retry_in_ms: retryInMs });
          if (failedStarts >= DOWN_AFTER_FAILED_STARTS) {
            down.set(worker, `the ${name} worker cannot be started: ${reason}`);
          }
        }
      };
    },
    check: () => down.size === 0 ? undefined : [...new Set(down.values())].join("; "),
  };
}

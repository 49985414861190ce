import { overloaded } from "../../../shared/http/router/admission.ts";

/** `EVAL_MAX_RUNS`: how many runs may be running at once. Runs that are being started count too. */
export interface RunLimit {
  isFull(): boolean;
  /** Throws 503 `overloaded` if there is no room for so many more runs, one if unset. */
  requireRoom(more?: number): void;
  /** Counts a run, or so many, while `begin` starts them. */
  count<T>(begin: () => Promise<T>, more?: number): Promise<T>;
}

/** `running` is the number of runs that have started. */
export function createRunLimit(
  { max, running }: { max: number; running: () => number },
): RunLimit {
  let starting = 0;
  const isFull = () => running() + starting >= max;

  return {
    isFull,
    requireRoom(more = 1) {
      if (running() + starting + more <= max) return;
      throw overloaded({ what: "runs", max, setting: "EVAL_MAX_RUNS" }, more);
    },
    async count(begin, more = 1) {
      starting += more;
      try {
        return await begin();
      } finally {
        starting -= more;
      }
    },
  };
}

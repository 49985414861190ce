import { overloaded } from "../../shared/http/admission.ts";

/** `EVAL_MAX_RUNS`: how many runs may be running at once. Runs that are being started count too. */
export interface RunLimit {
  isFull(): boolean;
  /** Throws 503 `overloaded` if the limit is reached. */
  requireRoom(): void;
  /** Counts a run while `begin` starts it. */
  count<T>(begin: () => Promise<T>): Promise<T>;
}

/** `running` is the number of runs that have started. */
export function createRunLimit(
  { max, running }: { max: number; running: () => number },
): RunLimit {
  let starting = 0;
  const isFull = () => running() + starting >= max;

  return {
    isFull,
    requireRoom() {
      if (isFull()) throw overloaded({ what: "runs", max, setting: "EVAL_MAX_RUNS" });
    },
    async count(begin) {
      starting++;
      try {
        return await begin();
      } finally {
        starting--;
      }
    },
  };
}

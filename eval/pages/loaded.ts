import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { ApiProblem } from "../../shared/pages/api_problem.ts";

/** A value that is fetched: loading (neither field is set), loaded, or failed. */
export interface Loaded<T> {
  value: T | undefined;
  problem: ApiProblem | undefined;
  reload(): void;
}

/** Fetches again whenever `keys` change; the old value stays until the new one arrives. */
export function useLoaded<T>(load: () => Promise<T>, keys: unknown[]): Loaded<T> {
  const state = useSignal<{ value?: T; problem?: ApiProblem; keys?: string }>({});
  const round = useSignal(0);
  const key = JSON.stringify(keys);
  useEffect(() => {
    let isCurrent = true;
    load().then(
      (value) => isCurrent && (state.value = { value, keys: key }),
      (error) => {
        if (!(error instanceof ApiProblem)) throw error;
        if (!isCurrent) return;
        // The old value stays if it has the same keys.
        const known = state.value.keys === key ? state.value : {};
        state.value = { ...known, problem: error, keys: key };
      },
    );
    return () => void (isCurrent = false);
  }, [key, round.value]);
  const { value, problem } = state.value;
  return { value, problem, reload: () => void round.value++ };
}

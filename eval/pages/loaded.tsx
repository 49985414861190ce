import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { ApiProblem } from "../../shared/pages/api_problem.ts";
import { Button } from "../../shared/pages/components/button.tsx";
import { Loading, ProblemNotice } from "../../shared/pages/components/states.tsx";

/** A value that is fetched: loading (neither field is set), loaded, or failed. */
interface Loaded<T> {
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

/** What was fetched; before that, that it is on its way; and if it failed, why and a way to try again. */
export function Shown<T>({ loaded: { value, problem, reload }, what, elsewhere, children }: {
  loaded: Loaded<T>;
  /** Such as `the runs`. */
  what: string;
  /** Where to go if it cannot be had. */
  elsewhere?: ComponentChildren;
  children: (value: T) => ComponentChildren;
}) {
  return (
    <>
      <Failed problem={problem} retry={problem?.status === 404 ? undefined : reload}>
        {elsewhere}
      </Failed>
      {value !== undefined ? children(value) : !problem && <Loading what={what} />}
    </>
  );
}

/** Why something could not be read, and a way to try again; nothing if it could. */
export function Failed({ problem, retry, children }: {
  problem: ApiProblem | undefined;
  retry: (() => void) | undefined;
  children?: ComponentChildren;
}) {
  if (!problem) return null;
  return (
    <ProblemNotice problem={problem}>
      {retry && <Button isSmall icon="retry" onClick={retry}>Try again</Button>}
      {children}
    </ProblemNotice>
  );
}

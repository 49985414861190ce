import type { ComponentChildren } from "preact";
import { Button } from "../../shared/pages/components/button.tsx";
import { Loading, ProblemNotice } from "../../shared/pages/components/states.tsx";
import type { Loaded } from "./loaded.ts";

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
      {problem && (
        <ProblemNotice problem={problem}>
          {problem.status !== 404 && (
            <Button isSmall icon="retry" onClick={reload}>Try again</Button>
          )}
          {elsewhere}
        </ProblemNotice>
      )}
      {value !== undefined ? children(value) : !problem && <Loading what={what} />}
    </>
  );
}

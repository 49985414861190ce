import { type ComponentChildren, type ComponentType, Fragment } from "preact";
import { useEffect, useState } from "preact/hooks";
import { ApiProblem } from "../api_problem.ts";
import { Button } from "./button.tsx";
import { Loading, ProblemNotice } from "./states.tsx";

/**
 * A component whose script is loaded when it is first shown. `Frame` has what a whole page has around
 * it, for the notice that it cannot be loaded.
 */
export function lazy<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  Frame: ComponentType<{ children: ComponentChildren }> = Fragment,
): ComponentType<Props> {
  const what = Frame === Fragment ? "this part of the page" : "this page";
  const problem = new ApiProblem(
    `cannot load ${what}. Is the service running at this address?`,
    { code: "not_loaded", status: 0 },
  );
  let Loaded: ComponentType<Props> | undefined;
  return function Lazy(props: Props) {
    const [state, setState] = useState<"loading" | "failed" | "loaded">("loading");
    useEffect(() => {
      if (Loaded || state !== "loading") return;
      let isShown = true;
      load().then((component) => {
        Loaded = component;
        if (isShown) setState("loaded");
      }, () => isShown && setState("failed"));
      return () => void (isShown = false);
    }, [state]);
    if (Loaded) return <Loaded {...props} />;
    if (state === "loading") return <Loading what="the page" />;
    return (
      <Frame>
        <ProblemNotice problem={problem}>
          <Button isSmall icon="retry" onClick={() => setState("loading")}>Try again</Button>
        </ProblemNotice>
      </Frame>
    );
  };
}

/** Loads scripts while the browser has nothing else to do, so that their views open offline too. */
export function loadWhenIdle(loads: (() => Promise<unknown>)[]): void {
  const idle = globalThis.requestIdleCallback ?? ((run: () => void) => setTimeout(run, 1_000));
  globalThis.addEventListener("load", () => {
    idle(() => loads.forEach((load) => load().catch(() => {})));
  });
}

import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { ApiProblem } from "../api_problem.ts";
import { Button } from "./button.tsx";
import { Loading, ProblemNotice } from "./states.tsx";

const PROBLEM = new ApiProblem("cannot load this part of the page", { code: "offline", status: 0 });

/** A component whose script is loaded when it is first shown. */
export function lazy<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
): ComponentType<Props> {
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
      <main id="main" class="page">
        <ProblemNotice problem={PROBLEM}>
          <Button isSmall icon="retry" onClick={() => setState("loading")}>Try again</Button>
        </ProblemNotice>
      </main>
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

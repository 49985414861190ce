import { AgreementView } from "../grades/agreement_view.tsx";
import { ScenariosTab } from "./scenarios_tab.tsx";
import { ScoresTab } from "./scores_tab.tsx";
import type { RunAndSummary } from "../source.ts";

export { TurnView } from "./turn/turn_view.tsx";

/** The tabs of a run except the first one. They and turns are loaded when they are first shown. */
export function DetailsTab({ view, run, summary }: RunAndSummary & { view: string }) {
  if (view === "scenarios") return <ScenariosTab run={run} summary={summary} />;
  if (view === "scores") return <ScoresTab summary={summary} />;
  if (view === "grades") return <AgreementView run={run} summary={summary} />;
  return <p class="muted">This run has no such view.</p>;
}

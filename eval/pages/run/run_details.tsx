import type { Run } from "../../api/schemas/run_schemas.ts";
import type { RunSummary } from "../../results/run_summary.ts";
import { AgreementView } from "../grades/agreement_view.tsx";
import { NoiseView } from "../noise/noise_view.tsx";
import { ScenariosTab } from "./scenarios_tab.tsx";
import { ScoresTab } from "./scores_tab.tsx";

export { TurnView } from "./turn/turn_view.tsx";

/** The tabs of a run except the first one. They and turns are loaded when they are first shown. */
export function DetailsTab({ view, run, summary }: {
  view: string;
  run: Run;
  summary: RunSummary;
}) {
  if (view === "scenarios") return <ScenariosTab run={run} summary={summary} />;
  if (view === "scores") return <ScoresTab summary={summary} />;
  if (view === "noise") return <NoiseView run={run} summary={summary} />;
  if (view === "grades") return <AgreementView run={run} summary={summary} />;
  return <p class="muted">This run has no such view.</p>;
}

import { lazy } from "../../../shared/pages/components/lazy.tsx";
import { RescoreDialog } from "../rescoring.tsx";
import { ChangeRunDialog } from "../run_actions.tsx";
import { LiveRun } from "./live_run.tsx";
import { RunBody } from "./run_body.tsx";
import { RunCrumbs, RunTools } from "./run_head.tsx";

const details = () => import("./run_details.tsx");
const TurnView = lazy(() => details().then((views) => views.TurnView));
const DetailsTab = lazy(() => details().then((views) => views.DetailsTab));

/**
 * One run: its headline and one of its tabs (`?view=`), or one of its turns if the address names one
 * (`?turn=0/1/0`).
 */
export function RunView({ id }: { id: string }) {
  return (
    <>
      <RunBody
        id={id}
        details={{ TurnView, DetailsTab }}
        live={{
          loadDetails: () => void details().catch(() => {}),
          crumbs: (run) => <RunCrumbs run={run} />,
          tools: (run, reload) => <RunTools run={run} reload={reload} />,
          progress: (run, told) => <LiveRun run={run} {...told} />,
        }}
      />
      <ChangeRunDialog />
      <RescoreDialog />
    </>
  );
}

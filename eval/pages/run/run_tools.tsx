import { Button } from "../../../shared/pages/components/button.tsx";
import { Link } from "../../../shared/pages/components/link.tsx";
import { Menu } from "../../../shared/pages/components/menu.tsx";
import { navigate } from "../../../shared/pages/location.ts";
import type { Run } from "../../api/schemas/run_schemas.ts";
import { readRequest, startRun } from "../api.ts";
import { exportItems, runActions, tryAction } from "../run_actions.tsx";

/** Links to the lists, the group and the earlier run that a run belongs to. */
export function RunCrumbs({ run }: { run: Run }) {
  return (
    <nav class="crumbs" aria-label="Where you are">
      <Link href="/">Runs</Link>
      <Link href={`/?test=${encodeURIComponent(run.test_name)}`}>
        Trend of <bdi>{run.test_name || "(no name)"}</bdi>
      </Link>
      {run.group_id && <Link href={`/ui/groups/${run.group_id}`}>Beside other models</Link>}
      {run.parent_id && <Link href={`/ui/runs/${run.parent_id}`}>Retry of an earlier run</Link>}
    </nav>
  );
}

/** What can be done with a run. */
export function RunTools({ run, reload }: { run: Run; reload: () => void }) {
  const actions = runActions(run, () => {
    if (run.status === "running" || run.status === "interrupted") reload();
    else navigate("/");
  }, reload);
  const stop = run.status === "running" && actions.find(({ icon }) => icon === "stop");
  return (
    <>
      {stop && <Button kind="danger" icon="stop" onClick={stop.onSelect}>Stop the run</Button>}
      {run.status !== "running" && (
        <>
          <Menu
            button={{ icon: "download", children: "Export" }}
            items={exportItems(run.run_id)}
          />
          <Link class="button" href={`/ui/compare?candidate=${run.run_id}`}>
            Compare with…
          </Link>
          <Button kind="primary" onClick={() => tryAction(() => runAgain(run.run_id))}>
            Run again
          </Button>
        </>
      )}
      <Menu
        button={{ icon: "more", "aria-label": "Actions" }}
        items={actions.filter((action) => action !== stop)}
      />
    </>
  );
}

/** Starts a run with the same request. */
async function runAgain(id: string): Promise<void> {
  const { group_id: _, ...request } = await readRequest(id);
  navigate(await startRun(request));
}

import type { MenuItem } from "../../../shared/pages/components/menu.tsx";
import { formatNumberOf } from "../../../shared/pages/format.ts";
import type { Comparison } from "../../figures/compare_stored.ts";
import { downloadItems, tryAction } from "../actions.tsx";
import { deletionItem } from "../deletion.tsx";
import { cancelRun, deleteRun, downloadComparison, listRuns, retryRun } from "../api.ts";
import { canRetry, RETRY } from "../run_actions.tsx";

/** What can be done with all runs of a group; `changed` and `deleted` are called afterwards. */
export function groupActions(
  { group_id, status, runs }: Comparison,
  { changed, deleted }: { changed: () => void; deleted: () => void },
): MenuItem[] {
  if (group_id === undefined) return [];
  const forAll = (work: (id: string) => Promise<unknown>, of: typeof runs, done?: string) => () =>
    tryAction(async () => {
      for (const { run_id } of of) await work(run_id);
      changed();
      return done;
    });
  if (status === "running") {
    const running = runs.filter((run) => run.status === "running");
    const done = "The runs are cancelled; their finished turns are kept.";
    return [{ label: "Cancel its runs", icon: "stop", onSelect: forAll(cancelRun, running, done) }];
  }
  const failed = runs.filter(canRetry);
  return [
    ...failed.length > 0
      ? [{ label: RETRY, icon: "retry" as const, onSelect: forAll(retryRun, failed) }]
      : [],
    deletionItem({
      noun: "group",
      name: runs[0]!.test_name,
      content: `the runs of ${formatNumberOf(runs.length, "model")}`,
      async erase() {
        // Including those that were retried.
        const { runs: all } = await listRuns({ group: group_id, limit: 200 });
        for (const { run_id } of all) await deleteRun(run_id);
      },
      after: deleted,
    }),
  ];
}

const FORMATS = [
  ["json", "JSON"],
  ["csv", "CSV"],
  ["markdown", "Markdown"],
  ["html", "HTML report, one file"],
] as const;

/** The files that a comparison can be saved as; `parameters` say of which runs. */
export function comparisonExports(parameters: Record<string, string>): MenuItem[] {
  return downloadItems(FORMATS, (format) => downloadComparison({ ...parameters, format }));
}

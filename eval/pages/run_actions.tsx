import { signal } from "@preact/signals";
import { ApiProblem } from "../../shared/pages/api_problem.ts";
import { ConfirmDialog } from "../../shared/pages/components/dialog.tsx";
import type { MenuItem } from "../../shared/pages/components/menu.tsx";
import { showToast } from "../../shared/pages/components/toast.tsx";
import { formatNumberOf } from "../../shared/pages/format.ts";
import { navigate } from "../../shared/pages/location.ts";
import type { Run } from "../api/run_schemas.ts";
import { cancelRun, deleteRun, downloadExport, retryRun } from "./api.ts";

/** The run that the person is asked about. */
const deleting = signal<{ run: Run; after: () => void } | undefined>(undefined);

/** Does something and says in a corner what came of it. */
export async function tryAction(work: () => Promise<string | void>): Promise<void> {
  try {
    const done = await work();
    if (done) showToast(done);
  } catch (error) {
    if (!(error instanceof ApiProblem)) throw error;
    showToast(error.message);
  }
}

const isUnfinished = ({ status }: Run) => status === "running" || status === "interrupted";
export const RETRY = "Retry what failed";
/** Of a run, or of the runs of a group. */
export const canRetry = (
  { status, progress: { failed, missing, done, total } }: Pick<Run, "status" | "progress">,
) => status !== "running" && (failed > 0 || missing > 0 || done < total);

/** What can be done with a run. `after` is called when the list has changed. */
export function runActions(run: Run, after: () => void): MenuItem[] {
  const { run_id: id } = run;
  const items: (MenuItem | false)[] = [
    isUnfinished(run) && {
      label: "Cancel the run",
      icon: "stop",
      onSelect: () =>
        tryAction(async () => {
          await cancelRun(id);
          after();
          return "The run is cancelled; its finished turns are kept.";
        }),
    },
    canRetry(run) && {
      label: RETRY,
      icon: "retry",
      onSelect: () => tryAction(async () => navigate(`/ui/runs/${await retryRun(id)}`)),
    },
    {
      label: "Edit and run again",
      icon: "edit",
      onSelect: () => navigate(`/ui/new?again=${id}`),
    },
    {
      label: "Use as baseline",
      icon: "columns",
      onSelect: () => navigate(`/ui/compare?baseline=${id}`),
    },
    run.status !== "running" && {
      label: "Delete",
      icon: "trash",
      isDanger: true,
      onSelect: () => deleting.value = { run, after },
    },
  ];
  return items.filter((item) => item !== false);
}

const FORMATS: [format: string, label: string][] = [
  ["html", "HTML report, one file"],
  ["json", "JSON"],
  ["jsonl", "JSONL"],
  ["csv", "CSV"],
  ["junit", "JUnit XML"],
  ["markdown", "Markdown"],
];

/** The files that a run can be saved as; with a baseline, those that show the comparison. */
export function exportItems(id: string, baseline?: string): MenuItem[] {
  const formats = baseline === undefined
    ? FORMATS
    : FORMATS.filter(([format]) => format === "html" || format === "markdown");
  return formats.map(([format, label]) => ({
    label,
    icon: "download",
    onSelect: () => tryAction(() => downloadExport(id, { format, baseline })),
  }));
}

/** Asks before a run is deleted. */
export function DeleteRunDialog() {
  const asked = deleting.value;
  if (!asked) return null;
  const { run, after } = asked;
  return (
    <ConfirmDialog
      title="Delete this run?"
      action="Delete"
      onConfirm={() =>
        tryAction(async () => {
          await deleteRun(run.run_id);
          after();
          return "The run is deleted.";
        })}
      onClose={() => deleting.value = undefined}
    >
      <p>
        <strong dir="auto">{run.test_name}</strong> with {formatNumberOf(run.progress.done, "turn")}
        {" "}
        will be gone for good, for everybody.
      </p>
    </ConfirmDialog>
  );
}

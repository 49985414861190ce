import { signal, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { Button } from "../../shared/pages/components/button.tsx";
import { TextField } from "../../shared/pages/components/field.tsx";
import { Dialog } from "../../shared/pages/components/dialog.tsx";
import type { MenuItem } from "../../shared/pages/components/menu.tsx";
import { ProblemNotice } from "../../shared/pages/components/states.tsx";
import { formatNumberOf } from "../../shared/pages/format.ts";
import { navigate } from "../../shared/pages/location.ts";
import type { Run } from "../http/schemas/run_schemas.ts";
import { downloadItems, tryAction } from "./actions.tsx";
import { deletionItem } from "./deletion.tsx";
import {
  cancelRun,
  changeRun,
  deleteRun,
  downloadExport,
  downloadTraining,
  retryRun,
} from "./api.ts";
import { bound } from "./parts/fields.tsx";
import { rescoreItem } from "./rescoring.tsx";
import { useSending } from "./sending.ts";

/** The run that is being renamed. */
const changing = signal<{ run: Run; after: () => void } | undefined>(undefined);

const isUnfinished = ({ status }: Run) => status === "running" || status === "interrupted";
export const RETRY = "Retry what failed";
/** Of a run, or of the runs of a group. */
export const canRetry = (
  { status, progress: { failed, missing, done, total } }: Pick<Run, "status" | "progress">,
) => status !== "running" && (failed > 0 || missing > 0 || done < total);

/**
 * What can be done with a run. `after` is called when it has been cancelled or deleted, `reload`
 * when it has another name or other tags.
 */
export function runActions(run: Run, after: () => void, reload = after): MenuItem[] {
  const { run_id: id } = run;
  const items: (MenuItem | false)[] = [
    isUnfinished(run) && {
      label: "Stop the run",
      icon: "stop",
      onSelect: () =>
        tryAction(async () => {
          await cancelRun(id);
          after();
          return "The run is stopped; its finished turns are kept.";
        }),
    },
    canRetry(run) && {
      label: RETRY,
      icon: "retry",
      onSelect: () => tryAction(async () => navigate(`/ui/runs/${await retryRun(id)}`)),
    },
    run.status === "completed" && rescoreItem(run),
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
    {
      label: "Rename and tag",
      icon: "edit",
      onSelect: () => changing.value = { run, after: reload },
    },
    run.status !== "running" && deletionItem({
      noun: "run",
      name: run.test_name,
      content: formatNumberOf(run.progress.done, "turn"),
      erase: () => deleteRun(id),
      after,
    }),
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

const TRAINING: [format: string, label: string][] = [
  ["sft", "Training: good replies (SFT)"],
  ["dpo", "Training: pairs (DPO)"],
  ["kto", "Training: good and bad replies (KTO)"],
  ["sft-openai", "Training: OpenAI SFT"],
  ["dpo-openai", "Training: OpenAI DPO"],
];

/** The files that a run can be saved as. */
export function exportItems(id: string): MenuItem[] {
  return [
    ...downloadItems(FORMATS, (format) => downloadExport(id, format)),
    ...downloadItems(TRAINING, (format) => saveTraining(id, format)),
  ];
}

/** Saves replies of a run as training data, and says what is not in it. */
async function saveTraining(id: string, format: string): Promise<string> {
  const { rows, leftOut } = await downloadTraining(id, format);
  return `Saved ${formatNumberOf(rows, "row")}.${leftOut && ` Left out: ${leftOut}.`}`;
}

/** The dialog that renames a run. It goes with its view. */
export function ChangeRunDialog() {
  useEffect(() => () => void (changing.value = undefined), []);
  return changing.value && <ChangeForm key={changing.value.run.run_id} {...changing.value} />;
}

/** A run's name and its tags. */
function ChangeForm({ run, after }: { run: Run; after: () => void }) {
  const name = useSignal(run.test_name);
  const tags = useSignal((run.tags ?? []).join(", "));
  const { problem, isSending, send } = useSending();
  const errorOf = (field: string) =>
    problem.value?.errors.find(({ path }) => path.startsWith(field))?.message;
  const close = () => changing.value = undefined;
  const isRunning = run.status === "running";
  async function save(event: Event): Promise<void> {
    event.preventDefault();
    await send(async () => {
      await changeRun(run.run_id, {
        ...(!isRunning && { test_name: name.value }),
        tags: tags.value.split(",").map((tag) => tag.trim()).filter(Boolean),
      });
      close();
      after();
    });
  }
  return (
    <Dialog title="Rename and tag" onClose={close}>
      <form class="dialog-body-form" onSubmit={save} noValidate>
        {problem.value && !errorOf("test_name") && !errorOf("tags") && (
          <ProblemNotice problem={problem.value} />
        )}
        <TextField
          label="Test name"
          hint="Runs with the same name form a trend"
          error={errorOf("test_name")}
          disabled={isRunning}
          {...bound(name)}
        />
        <TextField
          label="Tags"
          hint="Separated by commas. A tag names one run, which is kept: giving it to another run moves it."
          error={errorOf("tags")}
          {...bound(tags)}
        />
        <div class="dialog-actions">
          <Button onClick={close}>Cancel</Button>
          <Button kind="primary" type="submit" disabled={isSending.value}>Save</Button>
        </div>
      </form>
    </Dialog>
  );
}

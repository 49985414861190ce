import { signal, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { Button } from "../../shared/pages/components/button.tsx";
import { Dialog } from "../../shared/pages/components/dialog.tsx";
import { TextField } from "../../shared/pages/components/field.tsx";
import { ProblemNotice } from "../../shared/pages/components/states.tsx";
import type { MenuItem } from "../../shared/pages/components/menu.tsx";
import { navigate } from "../../shared/pages/location.ts";
import type { Run } from "../http/schemas/run_schemas.ts";
import { rescoreRun } from "./api.ts";
import { bound } from "./parts/fields.tsx";
import { useSending } from "./sending.ts";

/** The id of the run that is being scored again. */
const rescoring = signal<string | undefined>(undefined);

/** Opens the dialog. */
export function rescoreItem({ run_id }: Run): MenuItem {
  return { label: "Score again", icon: "check", onSelect: () => rescoring.value = run_id };
}

/** The dialog that scores the replies of a run again. It goes with its view. */
export function RescoreDialog() {
  useEffect(() => () => void (rescoring.value = undefined), []);
  return rescoring.value && <RescoreForm key={rescoring.value} id={rescoring.value} />;
}

function RescoreForm({ id }: { id: string }) {
  const [rubric, judge] = [useSignal(""), useSignal("")];
  const { problem, isSending, send } = useSending();
  const errorOf = (field: string) =>
    problem.value?.errors.find(({ path }) => path === field)?.message;
  async function start(event: Event): Promise<void> {
    event.preventDefault();
    await send(async () => {
      const started = await rescoreRun(id, {
        rubric: rubric.value.trim() || undefined,
        judge: judge.value.trim() || undefined,
      });
      navigate(`/ui/runs/${started}`);
    });
  }
  return (
    <Dialog title="Score again" onClose={() => rescoring.value = undefined}>
      <form class="dialog-body-form" onSubmit={start} noValidate>
        {problem.value && !errorOf("rubric") && !errorOf("judge") && (
          <ProblemNotice problem={problem.value} />
        )}
        <p class="muted">
          The replies stay as they are, and no model is asked for them. The new run says what the
          rubric or the judge alone changed.
        </p>
        <TextField
          label="Rubric"
          rows={4}
          hint="Instructions for the judge; the run's own if empty"
          error={errorOf("rubric")}
          {...bound(rubric)}
        />
        <TextField
          label="Judge"
          hint="Another model where the judge is; the run's own if empty"
          error={errorOf("judge")}
          {...bound(judge)}
        />
        <div class="dialog-actions">
          <Button onClick={() => rescoring.value = undefined}>Cancel</Button>
          <Button kind="primary" type="submit" disabled={isSending.value}>Score again</Button>
        </div>
      </form>
    </Dialog>
  );
}

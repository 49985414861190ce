import { useSignal } from "@preact/signals";
import { Button } from "../../../shared/pages/components/button.tsx";
import { Dialog, differs } from "../../../shared/pages/components/dialog.tsx";
import { Notice, ProblemNotice } from "../../../shared/pages/components/states.tsx";
import { showToast } from "../../../shared/pages/components/toast.tsx";
import type { Scenario } from "../../test/scenario.ts";
import type { DatasetVersion } from "../../http/dataset_routes.ts";
import { changeDataset, latestVersion } from "./dataset_content.ts";
import { CORRECT_JSON, type DraftScenario, ScenarioEditor } from "./scenario_editor.tsx";
import { useSending } from "../sending.ts";

/** Changes or deletes a scenario: the dataset gets a new version, the old one stays. */
export function EditScenario({ dataset, isLatest, index, scenario, onClose, onSaved }: {
  dataset: DatasetVersion;
  isLatest: boolean;
  index: number;
  scenario: Scenario;
  onClose: () => void;
  onSaved: () => void;
}) {
  const { name, version } = dataset;
  const draft = useSignal<DraftScenario>(scenario);
  const jsonError = useSignal<string | undefined>(undefined);
  const { problem, isSending, send } = useSending();
  const isOvertaken = useSignal(!isLatest);

  function save(line: string[]): Promise<void> {
    return send(async () => {
      if (!isOvertaken.value && await latestVersion(name) !== version) {
        isOvertaken.value = true; // warns first; the next press saves
        return;
      }
      await changeDataset(name, {
        version,
        change: (lines) => lines.toSpliced(index, 1, ...line),
      });
      showToast(line.length > 0 ? "The scenario is saved." : "The scenario is deleted.");
      onClose();
      onSaved();
    });
  }

  return (
    <Dialog
      title="Edit the scenario"
      isWide
      hasEdits={differs(draft.value, scenario) || Boolean(jsonError.value)}
      onClose={onClose}
    >
      <form
        class="dialog-body-form"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          save([JSON.stringify(draft.value)]);
        }}
      >
        {isOvertaken.value && (
          <Notice kind="warn" role="alert">
            There is a newer version than the one you change. If you save, yours becomes the latest,
            without the changes of the other.
          </Notice>
        )}
        {problem.value && <ProblemNotice problem={problem.value} />}
        <ScenarioEditor
          scenario={draft.value}
          jsonError={jsonError}
          onChange={(next) => draft.value = next}
        />
        {jsonError.value && <p class="muted small" role="status">{CORRECT_JSON}</p>}
        <div class="dialog-actions">
          {dataset.scenarios > 1 && (
            <Button
              kind="danger"
              icon="trash"
              disabled={isSending.value}
              onClick={() => save([])}
            >
              Delete the scenario
            </Button>
          )}
          <span class="spacer" />
          <Button onClick={onClose}>Cancel</Button>
          <Button
            kind="primary"
            type="submit"
            disabled={isSending.value || Boolean(jsonError.value)}
          >
            Save
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

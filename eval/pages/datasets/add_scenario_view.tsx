import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { Button } from "../../../shared/pages/components/button.tsx";
import { Notice, ProblemNotice } from "../../../shared/pages/components/states.tsx";
import { showToast } from "../../../shared/pages/components/toast.tsx";
import { formatNumberOf } from "../../../shared/pages/format.ts";
import { navigate, query } from "../../../shared/pages/location.ts";
import type { Scenario } from "../../test/scenario.ts";
import { listDatasets } from "../api.ts";
import { Section } from "../parts/section.tsx";
import { useLoaded } from "../loaded.tsx";
import { bound, SuggestField } from "../parts/fields.tsx";
import { appendScenario } from "./dataset_content.ts";
import {
  CORRECT_JSON,
  type DraftScenario,
  readScenario,
  ScenarioEditor,
} from "./scenario_editor.tsx";
import { useSending } from "../sending.ts";

const NEW: DraftScenario = { id: "", interactions: [{ id: "1", user_message: "" }] };

/**
 * Adds one scenario to a dataset. Another page, such as the chat, hands it over in the fragment of
 * the address: `#scenario=<JSON>`, and `&name=` for the dataset. It is stored when the person says so.
 */
export function AddScenarioView() {
  const scenario = useSignal(NEW);
  const name = useSignal(query.value.get("name") ?? "");
  const reason = useSignal<string | undefined>(undefined);
  const jsonError = useSignal<string | undefined>(undefined);
  const { problem, isSending, send } = useSending();
  const listed = useLoaded(() => listDatasets({ limit: 1_000 }), []);
  const sentName = useSignal("");
  const nameError = problem.value?.errors.find(({ path }) => path === "name")?.message;

  function take(text: string): void {
    const read = readScenario(text);
    reason.value = "reason" in read ? read.reason : undefined;
    if (!("scenario" in read)) return;
    scenario.value = read.scenario;
    jsonError.value = undefined; // of what was there before
  }

  useEffect(() => {
    const given = new URLSearchParams(globalThis.location.hash.slice(1));
    const text = given.get("scenario");
    if (text === null) return;
    take(text);
    name.value = given.get("name") ?? name.value;
    // A reload must not bring back what was changed since.
    navigate(globalThis.location.pathname + globalThis.location.search, { replace: true });
  }, []);

  async function save(event: Event): Promise<void> {
    event.preventDefault();
    const dataset = sentName.value = name.value.trim();
    await send(async () => {
      const written = await appendScenario(dataset, scenario.value as Scenario);
      showToast(
        written.created
          ? `Saved: ${dataset} has ${formatNumberOf(written.scenarios, "scenario")} now.`
          : `${dataset} has this scenario already.`,
      );
      navigate(`/ui/dataset/${dataset}?q=${encodeURIComponent(scenario.value.id)}`);
    });
  }

  return (
    <>
      <form
        class="new-run"
        noValidate
        onSubmit={save}
        onDragOver={(event) => event.preventDefault()}
        onDrop={async (event) => {
          const [file] = event.dataTransfer?.files ?? [];
          if (!file) return;
          event.preventDefault();
          take(await file.text());
        }}
      >
        <div class="page-head">
          <h2>Add a scenario</h2>
        </div>
        {reason.value && (
          <Notice kind="bad" role="alert">
            What was handed over cannot be used. {reason.value}
          </Notice>
        )}
        {problem.value && !nameError && <ProblemNotice problem={problem.value} />}
        <Section
          title="Dataset"
          hint="The scenario is added to its latest version; a new name starts a new dataset."
        >
          <SuggestField
            label="Name"
            {...bound(name)}
            autocomplete="off"
            error={name.value.trim() === sentName.value ? nameError : undefined}
            hint="Letters, digits, dots, dashes and underscores"
            suggestions={listed.value?.datasets.map((dataset) => dataset.name) ?? []}
          />
        </Section>
        <Section
          title="Scenario"
          hint="Check it before you save: later replies are compared with these references. A file with a scenario can be dropped here."
        >
          <ScenarioEditor
            scenario={scenario.value}
            jsonError={jsonError}
            onChange={(next) => scenario.value = next}
          />
        </Section>
        <div class="start">
          <Button
            kind="primary"
            type="submit"
            disabled={isSending.value || !name.value.trim() || !scenario.value.id.trim() ||
              Boolean(jsonError.value)}
          >
            Save
          </Button>
          <span class="muted small" role="status">
            {!name.value.trim()
              ? "Name the dataset first."
              : !scenario.value.id.trim()
              ? "Give the scenario an id first."
              : jsonError.value
              ? CORRECT_JSON
              : `If ${name.value.trim()} already has this id, a number is added to it.`}
          </span>
        </div>
      </form>
    </>
  );
}

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { Button } from "../../../shared/pages/components/button.tsx";
import { Dialog } from "../../../shared/pages/components/dialog.tsx";
import { Field, TextField } from "../../../shared/pages/components/field.tsx";
import { Link } from "../../../shared/pages/components/link.tsx";
import { ProblemNotice } from "../../../shared/pages/components/states.tsx";
import { formatNumberOf } from "../../../shared/pages/format.ts";
import { navigate, query } from "../../../shared/pages/location.ts";
import type { Scenario } from "../../test/scenario.ts";
import type { Dataset } from "../../http/dataset_routes.ts";
import { listDatasets, readRequest, startRun } from "../api.ts";
import { readScenarios } from "../datasets/dataset_content.ts";
import { DatasetForm } from "../datasets/dataset_form.tsx";
import { ScenarioRows } from "../datasets/scenario_rows.tsx";
import { Failed, Shown, useLoaded } from "../loaded.tsx";
import { bound, Select } from "../parts/fields.tsx";
import { Section } from "../parts/section.tsx";
import { useSending } from "../sending.ts";
import { Commands } from "./commands.tsx";
import {
  again,
  draft,
  missing,
  models,
  numberErrors,
  ownScenarios,
  requestBody,
  runAgain,
} from "./draft.ts";
import { ModelsField } from "./models_field.tsx";

/** Fields of the body that have a place in the form; errors of others are shown above it. */
const FIELDS = [
  "endpoint",
  "model_id",
  "model_ids",
  "targets",
  "attempts",
  "test_name",
  "pass_threshold",
  "rubric",
  "parameters",
  "dataset",
];

/** Starts runs of a dataset: one per model. */
export function NewRunView() {
  const { problem, isSending, send } = useSending();
  const sent = useSignal<Record<string, unknown>>({});
  const isUploading = useSignal<"no" | "yes" | "edited">("no");
  const listed = useLoaded(() => listDatasets({ limit: 1_000 }), []);
  const datasets = listed.value?.datasets ?? [];
  const body: Record<string, unknown> = requestBody.value;
  const errors = problem.value?.errors ?? [];
  /** Why fields were refused, as long as they are what was sent. */
  const errorOf = (...fields: string[]) =>
    fields.flatMap((field) =>
      JSON.stringify(sent.value[field]) !== JSON.stringify(body[field]) ? [] : errors
        .filter(({ path }) => path.split(".")[0] === field)
        .map(({ path, message }) => `${modelAt(path)}${message}`)
    ).slice(0, 5).join("; ") || undefined;
  const isElsewhere = problem.value &&
    !errors.some(({ path }) => FIELDS.includes(path.split(".")[0]!));
  useEffect(() => {
    const dataset = query.value.get("dataset");
    if (dataset) draft.dataset.value = dataset;
    const id = query.value.get("again");
    if (id) void send(async () => runAgain(await readRequest(id)));
  }, []);

  async function start(event: Event): Promise<void> {
    event.preventDefault();
    sent.value = body;
    await send(async () => navigate(await startRun(body)));
  }

  return (
    <>
      <form class="new-run" onSubmit={start} noValidate>
        <div class="page-head">
          <h2>New run</h2>
        </div>
        {isElsewhere && <ProblemNotice problem={problem.value!} />}
        <div class="columns even">
          <Section title="Test conversations">
            <Failed problem={listed.problem} retry={listed.reload} />
            <div class="row">
              <Field
                label="Dataset"
                error={errorOf("dataset")}
                hint={draft.dataset.value
                  ? (
                    <Link href={`/ui/dataset/${draft.dataset.value.split("@", 1)[0]}`}>
                      Look at the dataset
                    </Link>
                  )
                  : "What is asked, and what should be answered"}
              >
                {(input) => (
                  <Select
                    {...input}
                    options={optionsOf(datasets)}
                    value={draft.dataset.value}
                    onChoose={(dataset) => draft.dataset.value = dataset}
                  />
                )}
              </Field>
              <Button icon="upload" onClick={() => isUploading.value = "yes"}>New dataset</Button>
            </div>
            <Preview />
          </Section>
          <Section title="Models under test">
            <TextField
              label="Endpoint"
              {...bound(draft.endpoint)}
              error={errorOf("endpoint")}
              hint="An OpenAI-compatible base URL, or an agent such as assay-agent; empty to score replies that the conversations have"
              inputMode="url"
            />
            <ModelsField error={errorOf("model_id", "model_ids", "targets")} />
            <div class="row">
              <TextField
                label="Attempts"
                {...bound(draft.attempts)}
                error={numberErrors.value.attempts ?? errorOf("attempts")}
                hint="How often each conversation is run"
                inputMode="decimal"
              />
              <TextField
                label="Threshold"
                {...bound(draft.threshold)}
                error={numberErrors.value.threshold ?? errorOf("pass_threshold")}
                hint="A score from here on passes: 0 to 1, 0.7 if empty"
                inputMode="decimal"
              />
              <TextField
                label="Temperature"
                {...bound(draft.temperature)}
                error={numberErrors.value.temperature}
                hint="The endpoint's own if empty"
                inputMode="decimal"
              />
            </div>
            <TextField
              label="System prompt"
              {...bound(draft.systemPrompt)}
              rows={2}
              error={errorOf("parameters")}
              hint="The system message of every conversation; that of a scenario wins"
            />
            <div class="row">
              <TextField
                label="Test name"
                {...bound(draft.name)}
                error={errorOf("test_name")}
                hint="Runs with the same name form a trend; the dataset's if empty"
              />
              <TextField
                label="Rubric"
                {...bound(draft.rubric)}
                rows={1}
                error={errorOf("rubric")}
                hint="Instructions for the judge, if the service has one"
              />
            </div>
          </Section>
        </div>
        <div class="start">
          <Button
            kind="primary"
            type="submit"
            disabled={isSending.value || missing.value !== undefined}
          >
            Start the run
          </Button>
          <span class="muted small" role="status">
            {missing.value ?? describeSize(datasets)}
          </span>
        </div>
        <Commands />
      </form>
      {isUploading.value !== "no" && (
        <Dialog
          title="New dataset"
          isWide
          hasEdits={isUploading.value === "edited"}
          onClose={() => isUploading.value = "no"}
        >
          <DatasetForm
            onEdit={() => isUploading.value = "edited"}
            onWritten={({ name }) => {
              isUploading.value = "no";
              draft.dataset.value = name;
              listed.reload();
            }}
          />
        </Dialog>
      )}
    </>
  );
}

/** The model that an error is about, as `targets.1.endpoint`; empty for other errors. */
function modelAt(path: string): string {
  const [field, index] = path.split(".");
  if (field !== "model_ids" && field !== "targets") return "";
  const model = models.value[Number(index)];
  return model ? `${model.model_id}: ` : "";
}

/** The chosen one may be a version, or deleted since. */
function optionsOf(datasets: Dataset[]): [value: string, label: string][] {
  const chosen = draft.dataset.value;
  const options = datasets.map(({ name, scenarios }): [string, string] => [
    name,
    `${name} (${formatNumberOf(scenarios, "scenario")})`,
  ]);
  const isListed = !chosen || datasets.some(({ name }) => name === chosen);
  return [
    ["", again.value.test_batch ? "The conversations of the run" : "Choose one"],
    ...(isListed ? [] : [[chosen, chosen] as [string, string]]),
    ...options,
  ];
}

const SHOWN = 5;

/** The first of the conversations, with labels, checks and tools. */
function Preview() {
  const dataset = draft.dataset.value;
  const [name = "", version = ""] = dataset.split("@");
  const loaded = useLoaded(
    async () => dataset ? (await readScenarios(name, version, SHOWN)).scenarios : [],
    [dataset],
  );
  const own = ownScenarios.value.slice(0, SHOWN) as Scenario[];
  return (
    <Shown loaded={loaded} what="the conversations">
      {(scenarios) => <ScenarioRows scenarios={dataset ? scenarios : own} />}
    </Shown>
  );
}

function describeSize(datasets: Dataset[]): string {
  const dataset = draft.dataset.value;
  const listed = datasets.find(({ name }) => name === dataset);
  if (dataset && !listed) return `The conversations of ${dataset}`;
  const { scenarios, turns } = listed ?? {
    scenarios: ownScenarios.value.length,
    turns: (ownScenarios.value as Scenario[])
      .reduce((sum, { interactions }) => sum + interactions.length, 0),
  };
  const asked = turns * Math.max(1, Number(draft.attempts.value) || 1) * models.value.length;
  return `${formatNumberOf(scenarios, "scenario")}, ${formatNumberOf(asked, "turn")} to ask`;
}

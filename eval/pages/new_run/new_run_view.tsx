import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { Button } from "../../../shared/pages/components/button.tsx";
import { TextField } from "../../../shared/pages/components/field.tsx";
import { ProblemNotice } from "../../../shared/pages/components/states.tsx";
import { formatNumberOf } from "../../../shared/pages/format.ts";
import { navigate, query } from "../../../shared/pages/location.ts";
import { readRequest, startRun } from "../api.ts";
import { Preview } from "../batch/preview.tsx";
import { Section } from "../parts/section.tsx";
import { Commands } from "./commands.tsx";
import { Conversations } from "./conversations.tsx";
import { Checks } from "./checks_field.tsx";
import {
  checkAt,
  draft,
  type DraftCheck,
  missing,
  modelCount,
  numberErrors,
  pastedTargets,
  requestBody,
  setBatchText,
} from "./draft.ts";
import { ModelField, ModelsElsewhere, PastedTargets } from "./models.tsx";
import { bound } from "../parts/fields.tsx";
import { useSending } from "../sending.ts";

/** Fields of the body that have a place in the form; errors of others are shown above it. */
const FIELDS = [
  "endpoint",
  "model_id",
  "model_ids",
  "attempts",
  "test_name",
  "pass_threshold",
  "rubric",
  "parameters",
  "test_batch",
  "dataset",
];

type RequestBody = Record<string, unknown>;

/** Whether a field is unchanged. A batch is compared by identity, because it may be large. */
function isSame(before: unknown, now: unknown): boolean {
  if (before === now) return true;
  return !isBatch(before) && !isBatch(now) && JSON.stringify(before) === JSON.stringify(now);
}

function isBatch(value: unknown): boolean {
  return Array.isArray(value) && typeof value[0] === "object";
}

/** Starts a run of a dataset, or of a pasted or uploaded batch. */
export function NewRunView() {
  const { problem, isSending, send } = useSending();
  const sent = useSignal<RequestBody>({});
  const isAsSent = (field: string) =>
    isSame(sent.value[field], (requestBody.value as RequestBody)[field]);
  /** Why a field was refused, as long as it is what was sent. */
  const errorOf = (field: string) =>
    isAsSent(field)
      ? problem.value?.errors
        .filter(({ path }) => path === field || (path.startsWith(`${field}.`) && !checkAt(path)))
        .slice(0, 5).map(({ path, message }) => path === field ? message : `${path}: ${message}`)
        .join("; ") || undefined
      : undefined;
  const errorOfCheck = (check: DraftCheck) =>
    isAsSent("test_batch")
      ? problem.value?.errors.find(({ path }) => checkAt(path) === check)?.message
      : undefined;
  const further = modelCount.value - draft.elsewhere.value.length; // where models elsewhere begin
  /** The same of models with their endpoints: of one, or of those before `end`. */
  const errorOfTargets = (
    field: "endpoint" | "model_id",
    start: number,
    end = start + 1,
  ) => {
    if (pastedTargets.value || sent.value.targets !== requestBody.value.targets) return undefined;
    const found = problem.value?.errors.filter(({ path }) => {
      const [list, index, part = "model_id"] = path.split(".");
      const isOfField = part === field || (part === "name" && field === "model_id");
      return list === "targets" && Number(index) >= start && Number(index) < end && isOfField;
    });
    return found?.map(({ message }) => message).join("; ") || undefined;
  };
  const errors = problem.value?.errors ?? [];
  const hasPlace = (path: string) =>
    FIELDS.includes(path.split(".")[0]!) ||
    (/^targets\.\d+(\.(endpoint|model_id|name))?$/.test(path) && !pastedTargets.value);
  const isElsewhere = problem.value &&
    !errors.some(({ path }) => hasPlace(path)) &&
    (errors.length === 0 || sent.value === requestBody.value);
  useEffect(() => {
    const named = query.value.get("dataset");
    if (named) draft.dataset.value = named;
    const again = query.value.get("again");
    if (again) {
      void send(async () => setBatchText(JSON.stringify(await readRequest(again), null, 2)));
    }
  }, []);

  async function start(event: Event): Promise<void> {
    event.preventDefault();
    sent.value = requestBody.value;
    await send(async () => navigate(await startRun(sent.value)));
  }

  return (
    <>
      <form class="new-run" onSubmit={start} noValidate>
        <div class="page-head">
          <h2>New run</h2>
        </div>
        {isElsewhere && <ProblemNotice problem={problem.value!} />}
        <div class="columns even">
          <Section title="Model under test">
            {pastedTargets.value ? <PastedTargets targets={pastedTargets.value} /> : (
              <>
                <TextField
                  label="Endpoint"
                  {...bound(draft.endpoint)}
                  error={errorOf("endpoint") ?? errorOfTargets("endpoint", 0)}
                  hint="An OpenAI-compatible base URL, or an agent such as assay-agent; empty to score replies that the conversations have"
                  inputMode="url"
                />
                <ModelField
                  endpoint={draft.endpoint.value.trim()}
                  model={draft.model.value}
                  error={errorOf("model_id") ?? errorOf("model_ids") ??
                    errorOfTargets("model_id", 0)}
                  onInput={(model) => draft.model.value = model}
                />
                <TextField
                  label="Further models"
                  {...bound(draft.others)}
                  error={errorOfTargets("model_id", 1, further)}
                  hint="Separated by commas; all models run side by side as a group"
                />
                <ModelsElsewhere
                  errorOf={(index, field) => errorOfTargets(field, further + index)}
                />
              </>
            )}
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
            <TextField
              label="Test name"
              {...bound(draft.name)}
              error={errorOf("test_name")}
              hint="Runs with the same name form a trend"
            />
            <TextField
              label="Rubric"
              {...bound(draft.rubric)}
              rows={3}
              error={errorOf("rubric")}
              hint="Instructions for the judge, if the service has one"
            />
          </Section>
          <div class="stack">
            <Conversations error={errorOf("test_batch") ?? errorOf("dataset")} />
            {!draft.dataset.value && <Checks errorOf={errorOfCheck} />}
          </div>
        </div>
        {!draft.dataset.value && <Preview draft={draft.batch} />}
        <div class="start">
          <Button
            kind="primary"
            type="submit"
            disabled={isSending.value || missing.value !== undefined}
          >
            Start the run
          </Button>
          <span class="muted small" role="status">
            {missing.value ?? describeSize()}
          </span>
        </div>
        <Commands />
      </form>
    </>
  );
}

function describeSize(): string {
  if (draft.dataset.value) return `The conversations of ${draft.dataset.value}`;
  const scenarios = draft.batch.scenarios.value;
  const turns = scenarios.reduce(
    (sum, { interactions }) => sum + (Array.isArray(interactions) ? interactions.length : 0),
    0,
  ) * Math.max(1, Number(draft.attempts.value) || 1) * modelCount.value;
  return `${formatNumberOf(scenarios.length, "scenario")}, ${formatNumberOf(turns, "turn")} to ask`;
}

import { batch, computed, signal } from "@preact/signals";
import { addressOf } from "../../../shared/pages/service_address.ts";
import { keepForTab, readForTab } from "../../../shared/pages/storage.ts";
import { asFields, asText } from "../../../shared/service/fields.ts";

/** A model that is asked; without an endpoint, at the one of the form. */
interface ChosenModel {
  model_id: string;
  endpoint?: string;
}

/** What the person has entered so far; it survives going to another view and reloading. */
export const draft = {
  endpoint: signal(addressOf("assay-agent")),
  models: signal<ChosenModel[]>([]),
  /** What is typed and counts as one more model. */
  model: signal(""),
  name: signal(""),
  attempts: signal("1"),
  threshold: signal(""),
  rubric: signal(""),
  systemPrompt: signal(""),
  temperature: signal(""),
  /** `name` or `name@version`. */
  dataset: signal(""),
};

/** The request of a run that is run again: it may have more than the form, and its own scenarios. */
export const again = signal<Record<string, unknown>>({});

const KEPT = "new-run";

/** Keeps what was entered until the tab is closed. */
export function keepDraft(): void {
  const values = Object.entries(draft).map(([name, { value }]) => [name, value]);
  keepForTab(KEPT, Object.fromEntries(values));
}

/** Takes up what was kept. */
export function restoreDraft(): void {
  batch(() => {
    const kept = readForTab<Record<string, unknown>>(KEPT) ?? {};
    for (const [name, field] of Object.entries(draft)) {
      if (Object.hasOwn(kept, name)) field.value = kept[name] as never;
    }
  });
}

/** Where the form has a field for what a request has. */
const FIELDS_OF_REQUEST = {
  test_name: draft.name,
  attempts: draft.attempts,
  pass_threshold: draft.threshold,
  rubric: draft.rubric,
  system_prompt: draft.systemPrompt,
  temperature: draft.temperature,
};

/** Fills the form with the request of a run. */
export function runAgain(request: Record<string, unknown>): void {
  const { model_id, endpoint, dataset, ...others } = request;
  const parameters = asFields(others.parameters);
  batch(() => {
    draft.endpoint.value = asText(endpoint) ?? ""; // none in one that scores existing replies
    draft.models.value = [{ model_id: String(model_id) }];
    draft.model.value = "";
    draft.dataset.value = asText(dataset) ?? "";
    for (const [name, field] of Object.entries(FIELDS_OF_REQUEST)) {
      const value = others[name] ?? parameters[name];
      if (typeof value === "string" || typeof value === "number") field.value = String(value);
    }
    again.value = request;
  });
}

/** What the request of the run has beside what the form has; nothing for other conversations. */
const kept = computed<Record<string, unknown>>(() => {
  const { endpoint: _, model_id: __, dataset = "", ...others } = again.value;
  return draft.dataset.value === dataset ? others : {};
});

/** The scenarios of the run that is run again, unless a dataset is chosen. */
export const ownScenarios = computed(() => {
  const { test_batch } = draft.dataset.value ? {} : kept.value;
  return test_batch === undefined ? [] : [test_batch].flat();
});

/** Every model that is asked. */
export const models = computed(() => {
  const typed = draft.model.value.trim();
  return [...draft.models.value, ...(typed ? [{ model_id: typed }] : [])];
});

/** Adds a model behind the others, unless it is one of them. */
export function addModel(model_id: string): void {
  draft.model.value = "";
  const isThere = draft.models.value.some((other) =>
    other.model_id === model_id && !other.endpoint
  );
  if (model_id && !isThere) draft.models.value = [...draft.models.value, { model_id }];
}

/** The models so far stay where they are; those to come are at another endpoint. */
export function beginEndpoint(): void {
  const endpoint = draft.endpoint.value.trim();
  draft.models.value = models.value.map((model) => ({ endpoint, ...model }));
  draft.model.value = "";
  draft.endpoint.value = "";
}

/** What is wrong with the numbers, also before they are sent. */
export const numberErrors = computed(() => {
  const attempts = enteredNumber(draft.attempts.value) ?? 1;
  const threshold = enteredNumber(draft.threshold.value) ?? 0;
  const temperature = enteredNumber(draft.temperature.value) ?? 0;
  return {
    attempts: Number.isInteger(attempts) && attempts >= 1
      ? undefined
      : "Enter a whole number, 1 or more.",
    threshold: threshold >= 0 && threshold <= 1
      ? undefined
      : "Enter a number from 0 to 1, such as 0.7.",
    temperature: temperature >= 0 ? undefined : "Enter a number, 0 or more.",
  };
});

/** Not a number if it is none; `undefined` if nothing was entered. */
function enteredNumber(text: string): number | undefined {
  return text.trim() === "" ? undefined : Number(text);
}

/** What the person has to do before the run can start; `undefined` if nothing. */
export const missing = computed(() => {
  if (!draft.dataset.value && ownScenarios.value.length === 0) return "Choose a dataset first.";
  if (models.value.length === 0) return "Name the model first.";
  const wrong = Object.entries(numberErrors.value).find(([, error]) => error);
  return wrong && `Correct the ${wrong[0]} first.`;
});

/** The request; numbers that were not entered are left to the service. */
export const requestBody = computed(() => ({
  ...kept.value,
  dataset: draft.dataset.value || undefined,
  ...modelsOfRequest(),
  attempts: enteredNumber(draft.attempts.value),
  test_name: draft.name.value.trim() || undefined,
  pass_threshold: enteredNumber(draft.threshold.value),
  rubric: draft.rubric.value.trim() || undefined,
  parameters: parameters.value,
}));

/** The parameters of the form and those of the run; `undefined` if there are none. */
const parameters = computed(() => {
  const all = {
    ...asFields(kept.value.parameters),
    system_prompt: draft.systemPrompt.value.trim() || undefined,
    temperature: enteredNumber(draft.temperature.value),
  };
  return Object.values(all).some((value) => value !== undefined) ? all : undefined;
});

function modelsOfRequest() {
  const endpoint = draft.endpoint.value.trim() || undefined;
  const [first, ...others] = models.value;
  if (others.length === 0) return { endpoint, model_id: "", ...first };
  return models.value.some((model) => model.endpoint)
    ? { targets: models.value.map((model) => ({ endpoint, ...model })) }
    : { endpoint, model_ids: models.value.map(({ model_id }) => model_id) };
}

import { batch, computed, signal } from "@preact/signals";
import { addressOf } from "../../../shared/pages/service_address.ts";
import { keepForTab, readForTab } from "../../../shared/pages/storage.ts";
import { asFields, asText } from "../../../shared/service/fields.ts";
import type { EvaluateTarget } from "../../test/evaluate_request.ts";
import { createBatchDraft } from "../batch/batch_draft.ts";
import type { BatchInput } from "../batch/batch_input.ts";

/** A model at an endpoint of its own. */
export interface ModelElsewhere {
  endpoint: string;
  model: string;
}

/** A check as the form has it. */
export interface DraftCheck {
  type: string;
  value: string;
  isRequired: boolean;
}

/** What the person has entered so far; it survives going to another view and reloading. */
export const draft = {
  endpoint: signal(addressOf("assay-agent")),
  model: signal(""),
  /** Further models by commas: then all are run as one group. */
  others: signal(""),
  /** Models at other endpoints, in the same group. */
  elsewhere: signal<ModelElsewhere[]>([]),
  name: signal(""),
  attempts: signal("1"),
  threshold: signal(""),
  rubric: signal(""),
  systemPrompt: signal(""),
  temperature: signal(""),
  /** Checks for every scenario that is entered here; a dataset has its own. */
  checks: signal<DraftCheck[]>([]),
  /** `name` or `name@version`; empty for a batch that is pasted or uploaded. */
  dataset: signal(""),
  batch: createBatchDraft(),
};

const { batch: { text, chosenUses }, ...entered } = draft;
/** By the names under which they are kept: a batch may be larger than what a browser keeps. */
const KEPT = { "new-run": entered, "new-run-batch": { text, chosenUses } };

/** Keeps what was entered until the tab is closed. */
export function keepDraft(): void {
  for (const [name, fields] of Object.entries(KEPT)) {
    const values = Object.entries(fields).map(([name, { value }]) => [name, value]);
    if (!keepForTab(name, Object.fromEntries(values))) keepForTab(name, {}); // too large
  }
}

/** Takes up what was kept. */
export function restoreDraft(): void {
  batch(() => {
    for (const [name, fields] of Object.entries(KEPT)) {
      const kept = readForTab<Record<string, unknown>>(name) ?? {};
      for (const [name, field] of Object.entries(fields)) {
        if (Object.hasOwn(kept, name)) field.value = kept[name] as never;
      }
    }
  });
}

/** A whole request brings more than its batch. */
export function setBatchText(text: string): void {
  const before = modelsOf(draft.batch.input.value);
  draft.batch.setText(text);
  const input = draft.batch.input.value;
  if (!("request" in input) || !input.request) return;
  const { request } = input;
  if (request.replies) draft.endpoint.value = "";
  const named = modelsOf(input);
  if (named.length > 0 && named.join() !== before.join()) { // others may have been added since
    const [first = "", ...others] = named.map(String);
    draft.model.value = first;
    draft.others.value = others.join(", ");
    draft.elsewhere.value = [];
  }
  const parameters = request.parameters as Record<string, unknown> | undefined;
  for (const [name, field] of Object.entries(FIELDS_OF_REQUEST)) {
    const value = request[name] ?? parameters?.[name];
    if (typeof value === "string" || typeof value === "number") field.value = String(value);
  }
  const dataset = datasetOf(input);
  if (dataset) draft.dataset.value = dataset;
}

/** The models that a pasted request names. */
function modelsOf(input: BatchInput): (string | number)[] {
  const { model_id, model_ids } = ("request" in input && input.request) || {};
  return (Array.isArray(model_ids) ? model_ids : [model_id]).filter((id) =>
    typeof id === "string" || typeof id === "number"
  );
}

/** The dataset of a pasted request that has no batch; empty if it has one. */
function datasetOf(
  { scenarios, request }: { scenarios: unknown[]; request?: Record<string, unknown> },
): string {
  return scenarios.length === 0 ? asText(request?.dataset) ?? "" : "";
}

/** Where the form has a field for what a request has. */
const FIELDS_OF_REQUEST = {
  endpoint: draft.endpoint,
  test_name: draft.name,
  attempts: draft.attempts,
  pass_threshold: draft.threshold,
  rubric: draft.rubric,
  system_prompt: draft.systemPrompt,
  temperature: draft.temperature,
};

/**
 * What a pasted request has beside its conversations, and beside the models, which the form has; the
 * form may have changed some of it.
 */
const pasted = computed<Record<string, unknown>>(() => {
  const input = draft.batch.input.value;
  if (!("request" in input) || draft.dataset.value !== datasetOf(input)) return {};
  const { endpoint: _, model_id: __, model_ids: ___, ...others } = input.request ?? {};
  return others;
});

/** Models of a pasted request that names each with its endpoint. */
export const pastedTargets = computed(() => {
  const { targets } = pasted.value;
  return Array.isArray(targets) && targets.length > 0 ? targets as unknown[] : undefined;
});

/** The models at the first endpoint. */
const models = computed(() => {
  const others = draft.others.value.split(",").map((id) => id.trim()).filter((id) => id !== "");
  return [draft.model.value.trim(), ...others];
});

/** Each model with its endpoint, if they have several; those of `draft.elsewhere` come last. */
const targets = computed(() => {
  const elsewhere = draft.elsewhere.value;
  if (elsewhere.length === 0) return undefined;
  const endpoint = draft.endpoint.value.trim();
  return [
    ...models.value.map((model_id) => ({ endpoint, model_id })),
    ...elsewhere.map(({ endpoint, model }) => ({
      endpoint: endpoint.trim(),
      model_id: model.trim(),
    })),
  ];
});

/** How many models are asked. */
export const modelCount = computed(() =>
  (pastedTargets.value ?? targets.value ?? models.value).length
);

/** Whether there is something to run. */
export const hasConversations = computed(() =>
  draft.dataset.value !== "" || draft.batch.scenarios.value.length > 0
);

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
  if (!hasConversations.value) {
    return draft.batch.input.value.kind === "wrong"
      ? "Correct the batch first."
      : "Choose a dataset or enter test conversations first.";
  }
  if (!pastedTargets.value && draft.model.value.trim() === "") return "Name the model first.";
  if (
    !pastedTargets.value &&
    draft.elsewhere.value.some(({ endpoint, model }) => !endpoint.trim() || !model.trim())
  ) return "Fill in or remove the model at another endpoint.";
  if (numberErrors.value.attempts) return "Correct the attempts first.";
  if (numberErrors.value.threshold) return "Correct the threshold first.";
  if (numberErrors.value.temperature) return "Correct the temperature first.";
  if (!draft.dataset.value && draft.checks.value.some(checkError)) {
    return "Correct the checks first.";
  }
  return undefined;
});

/** The request; numbers that were not entered are left to the service. */
export const requestBody = computed(() => {
  const dataset = draft.dataset.value;
  return {
    ...pasted.value,
    test_batch: dataset ? undefined : withChecks.value,
    dataset: dataset || undefined,
    ...!pastedTargets.value && modelsOfForm(),
    attempts: enteredNumber(draft.attempts.value),
    test_name: draft.name.value.trim() || undefined,
    pass_threshold: enteredNumber(draft.threshold.value),
    rubric: draft.rubric.value.trim() || undefined,
    parameters: parameters.value,
  };
});

/** The parameters of the form and those that were pasted; `undefined` if there are none. */
const parameters = computed(() => {
  const { system_prompt: _, temperature: __, ...others } =
    (pasted.value.parameters ?? {}) as Record<string, unknown>;
  const system_prompt = draft.systemPrompt.value.trim();
  const temperature = enteredNumber(draft.temperature.value);
  const all = {
    ...others,
    ...(system_prompt && { system_prompt }),
    ...(temperature !== undefined && { temperature }),
  };
  return Object.keys(all).length > 0 ? all : undefined;
});

/** Checks whose value is a number. */
export const isNumeric = (type: string) => type.startsWith("max_");

/** What is wrong with a check, also before it is sent. */
export function checkError({ type, value }: DraftCheck): string | undefined {
  return isNumeric(type) && !(Number(value) >= 0) ? "Enter a number, 0 or more." : undefined;
}

const filledChecks = computed(() => draft.checks.value.filter(({ value }) => value.trim() !== ""));

function ownChecks(scenario: unknown): unknown[] {
  const { checks } = asFields(scenario);
  return Array.isArray(checks) ? checks : [];
}

/** The scenarios with the checks of the form behind their own. */
const withChecks = computed(() => {
  const scenarios = draft.batch.scenarios.value;
  const checks = filledChecks.value.map(({ type, value, isRequired }) => ({
    type,
    value: isNumeric(type) ? Number(value) : value,
    ...(isRequired && { required: true }),
  }));
  if (checks.length === 0) return scenarios;
  return scenarios.map((scenario) => ({
    ...scenario,
    checks: [...ownChecks(scenario), ...checks],
  }));
});

/** The check of the form that a path of the request leads to. */
export function checkAt(path: string): DraftCheck | undefined {
  const [, scenario = "", check = ""] = /^test_batch\.(\d+)\.checks\.(\d+)/.exec(path) ?? [];
  const own = ownChecks(draft.batch.scenarios.value[Number(scenario)]).length;
  return check === "" ? undefined : filledChecks.value[Number(check) - own];
}

function modelsOfForm(): {
  endpoint?: string | undefined;
  model_id?: string;
  model_ids?: string[];
  targets?: EvaluateTarget[];
} {
  if (targets.value) return { targets: targets.value };
  const endpoint = draft.endpoint.value.trim() || undefined;
  const [model_id = "", ...others] = models.value;
  return others.length > 0 ? { endpoint, model_ids: models.value } : { endpoint, model_id };
}

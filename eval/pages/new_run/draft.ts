import { batch, computed, signal } from "@preact/signals";
import { keepForTab, readForTab } from "../../../shared/pages/storage.ts";
import { createBatchDraft } from "../batch/batch_draft.ts";

/** What the person has entered so far; it survives going to another view and reloading. */
export const draft = {
  endpoint: signal("http://127.0.0.1:8000"),
  model: signal(""),
  /** Further models by commas: then all are run as one group. */
  others: signal(""),
  name: signal(""),
  attempts: signal("1"),
  threshold: signal(""),
  rubric: signal(""),
  /** `name` or `name@version`; empty for a batch that is pasted or uploaded. */
  dataset: signal(""),
  batch: createBatchDraft(),
};

const DRAFT = "new-run";
const { batch: { text, chosenUses }, ...entered } = draft;
const KEPT = { ...entered, text, chosenUses };

/** Keeps what was entered until the tab is closed. */
export function keepDraft(): void {
  const values = Object.entries(KEPT).map(([name, { value }]) => [name, value]);
  keepForTab(DRAFT, Object.fromEntries(values));
}

/** Takes up what was kept. */
export function restoreDraft(): void {
  const kept = readForTab<Record<string, unknown>>(DRAFT) ?? {};
  batch(() => {
    for (const [name, field] of Object.entries(KEPT)) {
      if (Object.hasOwn(kept, name)) field.value = kept[name] as never;
    }
  });
}

/** A whole request brings more than its batch. */
export function setBatchText(text: string): void {
  draft.batch.setText(text);
  const input = draft.batch.input.value;
  if (!("request" in input) || !input.request) return;
  const { endpoint, model_id, test_name } = input.request;
  if (typeof endpoint === "string") draft.endpoint.value = endpoint;
  if (typeof model_id === "string") draft.model.value = model_id;
  if (typeof test_name === "string") draft.name.value = test_name;
}

/** Whether there is something to run. */
export const hasConversations = computed(() =>
  draft.dataset.value !== "" || draft.batch.scenarios.value.length > 0
);

/** What the person has to do before the run can start; `undefined` if nothing. */
export const missing = computed(() => {
  if (!hasConversations.value) return "Choose a dataset or enter test conversations first.";
  if (draft.model.value.trim() === "") return "Name the model first.";
  return undefined;
});

/** The request; numbers that were not entered are left to the service. */
export const requestBody = computed(() => {
  const number = (text: string) => text.trim() === "" ? undefined : Number(text);
  const dataset = draft.dataset.value;
  const others = draft.others.value.split(",").map((id) => id.trim()).filter((id) => id !== "");
  return {
    test_batch: dataset ? undefined : draft.batch.scenarios.value,
    dataset: dataset || undefined,
    endpoint: draft.endpoint.value.trim(),
    ...(others.length > 0
      ? { model_ids: [draft.model.value.trim(), ...others] }
      : { model_id: draft.model.value.trim() }),
    attempts: number(draft.attempts.value),
    test_name: draft.name.value.trim() || undefined,
    pass_threshold: number(draft.threshold.value),
    rubric: draft.rubric.value.trim() || undefined,
  };
});

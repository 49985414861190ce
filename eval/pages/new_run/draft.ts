import { computed, signal } from "@preact/signals";
import {
  type ColumnUse,
  type DraftScenario,
  guessUses,
  readBatch,
  toBatch,
} from "./batch_input.ts";

/** What the person has entered so far; it survives going to another view. */
export const draft = {
  endpoint: signal("http://127.0.0.1:8000"),
  model: signal(""),
  name: signal(""),
  attempts: signal("1"),
  threshold: signal(""),
  rubric: signal(""),
  text: signal(""),
};

export const batchInput = computed(() => readBatch(draft.text.value));

const chosenUses = signal<ColumnUse[] | undefined>(undefined);

/** What the columns of a table are: the person's choice, or a guess by their names. */
export const columnUses = computed<ColumnUse[]>(() => {
  const input = batchInput.value;
  if (input.kind !== "csv") return [];
  const { columns } = input.table;
  return chosenUses.value?.length === columns.length ? chosenUses.value : guessUses(columns);
});

export function setColumnUse(column: number, use: ColumnUse): void {
  chosenUses.value = columnUses.value.map((current, index) =>
    index === column ? use : use !== "metadata" && current === use ? "" : current
  );
}

/** Another text is another table. */
export function setText(text: string): void {
  draft.text.value = text;
  chosenUses.value = undefined;
  const input = batchInput.value;
  if (!("request" in input) || !input.request) return;
  const { endpoint, model_id, test_name } = input.request;
  if (typeof endpoint === "string") draft.endpoint.value = endpoint;
  if (typeof model_id === "string") draft.model.value = model_id;
  if (typeof test_name === "string") draft.name.value = test_name;
}

/** The scenarios to run; none if the text cannot be used yet. */
export const scenarios = computed<DraftScenario[]>(() => {
  const input = batchInput.value;
  if (input.kind === "csv") {
    return columnUses.value.includes("message") ? toBatch(input.table, columnUses.value) : [];
  }
  return "scenarios" in input ? input.scenarios : [];
});

/** The request; numbers that were not entered are left to the service. */
export const requestBody = computed(() => {
  const number = (text: string) => text.trim() === "" ? undefined : Number(text);
  return {
    test_batch: scenarios.value,
    endpoint: draft.endpoint.value.trim(),
    model_id: draft.model.value.trim(),
    attempts: number(draft.attempts.value),
    test_name: draft.name.value.trim() || undefined,
    pass_threshold: number(draft.threshold.value),
    rubric: draft.rubric.value.trim() || undefined,
  };
});

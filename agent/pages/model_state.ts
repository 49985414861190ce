import { computed, signal } from "@preact/signals";
import { requestJson } from "../../shared/pages/api.ts";
import { ApiProblem } from "../../shared/pages/api_problem.ts";
import { readChoice } from "../../shared/pages/storage.ts";
import type { Model, ModelList } from "../http/schemas/chat_completion.ts";

/** The models of the service; `undefined` until the list has come. */
export const models = signal<Model[] | undefined>(undefined);

/** Why there is no list. */
export const modelsProblem = signal<ApiProblem | undefined>(undefined);

/** The service has no provider: its models are the embedded demo. */
export const isDemo = signal(false);

/** The models of the next conversation: the ones chosen last. */
export const chosenModels = signal<string[]>([]);

const isFineTuned = ({ owned_by }: Model) => owned_by === "studio";

/** Fine-tuned models by name, and the hub's by id. */
export const modelGroups = computed(() => {
  const all = models.value ?? [];
  return [
    { title: "Fine-tuned", models: all.filter(isFineTuned) },
    { title: "Hub", models: all.filter((model) => !isFineTuned(model)) },
  ].filter((group) => group.models.length > 0);
});

/** Reads the list, and chooses a model if none was chosen before. */
export async function loadModels(): Promise<void> {
  chosenModels.value = readChoice<string[]>("models") ?? [];
  try {
    const [{ data: listed }, { demo_model: demo }] = await Promise.all([
      requestJson<ModelList>("/v1/models"),
      requestJson<{ demo_model?: string }>("/"),
    ]);
    models.value = listed;
    isDemo.value = demo !== undefined;
    modelsProblem.value = undefined;
    const first = demo ?? listed[0]?.id;
    const isGone = isDemo.value && !listed.some(({ id }) => id === chosenModels.value[0]);
    if (first && (chosenModels.value.length === 0 || isGone)) chosenModels.value = [first];
  } catch (error) {
    if (!(error instanceof ApiProblem)) throw error;
    modelsProblem.value = error;
    models.value = [];
  }
}

/** The name of a fine-tuned model; the id of any other. */
export function modelName(id: string): string {
  return models.value?.find((model) => model.id === id && isFineTuned(model))?.name ?? id;
}

/** True for the embedded demo; not for an id that was typed and that it does not have. */
export function isDemoModel(id: string): boolean {
  return isDemo.value && models.value?.some((model) => model.id === id) === true;
}

/**
 * True for an id that the service can route: a UUID, or `<provider>/<model>`. Without a list it may be
 * any word: the service knows whether the hub takes ids such as `gpt-4o`.
 */
export function isModelId(text: string): boolean {
  if (models.value?.length === 0) return /^\S+$/.test(text);
  return /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$|^[^/\s]+\/\S+$/i.test(text);
}

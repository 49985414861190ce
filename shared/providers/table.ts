import { validate } from "@std/uuid/common";

/** UUID-shaped, whatever the version and variant bits say: v8, and what older tools issue. */
const UUID_SHAPE = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/**
 * The providers of the agent, in the order in which a model id is offered to them. A provider is
 * configured by `<NAME>_BASE_URL` and `<NAME>_API_KEY`.
 */
export const PROVIDERS = {
  studio: {
    takes: (id: string) => validate(id) || UUID_SHAPE.test(id),
    /** What it is asked for, and why a model id leads to it. */
    asked: "a fine-tuned model",
    why: "it is a UUID: a fine-tuned model, asked at the studio",
  },
  hub: {
    takes: (id: string) => /^[^/]+\/[^]/.test(id),
    asked: "a hub model",
    why: "it has the form <provider>/<model>: asked at the hub, unchanged",
  },
};

export type ProviderName = keyof typeof PROVIDERS;

export const PROVIDER_NAMES = Object.keys(PROVIDERS) as ProviderName[];

/** The settings of a provider, by its name. */
export function settingsOf<Name extends ProviderName>(name: Name) {
  const prefix = name.toUpperCase() as Uppercase<Name>;
  return { address: `${prefix}_BASE_URL`, key: `${prefix}_API_KEY` } as const;
}

/** The provider for an `x-model-id`, `null` if none takes it. `model` is the name that it gets. */
export interface RoutedModel {
  target: ProviderName | null;
  model: string;
}

/** Routes a model id; surrounding blanks do not count, letter case is kept. */
export function routeModel(modelId: string): RoutedModel {
  const model = modelId.trim();
  return { target: PROVIDER_NAMES.find((name) => PROVIDERS[name].takes(model)) ?? null, model };
}

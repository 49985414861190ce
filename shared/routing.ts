import { validate } from "@std/uuid/common";

/** The provider for an `x-model-id`. `model` is the name that the provider gets. */
export type RoutedModel =
  | { target: "studio"; model: string }
  | { target: "hub"; model: string }
  | { target: null; model: string };

/** UUID-shaped, whatever the version and variant bits say: v8, and what older tools issue. */
const UUID_SHAPE = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Routes a model id; surrounding blanks do not count, letter case is kept. */
export function routeModel(modelId: string): RoutedModel {
  const model = modelId.trim();
  if (validate(model) || UUID_SHAPE.test(model)) return { target: "studio", model };
  const slash = model.indexOf("/");
  if (slash > 0 && slash < model.length - 1) return { target: "hub", model };
  return { target: null, model };
}

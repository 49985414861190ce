import { AppError } from "../../shared/errors.ts";
import { type Route, routeModel } from "../../shared/routing.ts";

/** A model id, and the provider that it leads to. */
export type ModelChoice = Exclude<Route, { target: null }>;

/** A UUID is a fine-tuned model, `<provider>/<model>` a hub model. Throws 400 for anything else. */
export function chooseModel(id: string | null | undefined, where: string): ModelChoice {
  if (!id?.trim()) {
    throw new AppError(
      400,
      "missing_model_id",
      `cannot choose a model: send ${where}, a UUID or <provider>/<model>`,
    );
  }
  const route = routeModel(id);
  if (route.target) return route;
  const shown = JSON.stringify(route.model.slice(0, 100));
  throw new AppError(
    400,
    "invalid_model_id",
    `cannot route model ${shown}: neither a UUID nor <provider>/<model>`,
  );
}

/** The body of `GET /route`: where a model id leads, and why. */
export function explainRoute(id: string): { target: string | null; model: string; reason: string } {
  const { target, model } = routeModel(id);
  const reasons = {
    studio: "it is a UUID: a fine-tuned model, asked at the studio",
    hub: "it has the form <provider>/<model>: asked at the hub, unchanged",
  };
  return {
    target,
    model,
    reason: target ? reasons[target] : "it is neither a UUID nor <provider>/<model>",
  };
}

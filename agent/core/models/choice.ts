import { AppError } from "../../../shared/service/errors.ts";
import {
  type ListedModel,
  type ProviderName,
  PROVIDERS,
  type RoutedModel,
  routeModel,
} from "../../../shared/providers/provider.ts";
import type { AgentConfig } from "../../config.ts";

/** A model id, and the provider that it leads to. */
export interface ModelChoice extends RoutedModel {
  target: ProviderName;
}

/** The configuration that adds to the rule of `routeModel`. */
export type ModelRules = Pick<AgentConfig, "HUB_BARE_MODELS" | "MODEL_ALIASES">;

/**
 * Where a model id leads: a UUID to the studio, `<provider>/<model>` to the hub. An alias stands for
 * its model. With `HUB_BARE_MODELS` every other id leads to the hub too, unchanged.
 */
export function resolveModel(
  id: string,
  { HUB_BARE_MODELS, MODEL_ALIASES = {} }: ModelRules,
): RoutedModel {
  const asked = id.trim();
  const route = routeModel(Object.hasOwn(MODEL_ALIASES, asked) ? MODEL_ALIASES[asked]! : asked);
  const isBare = route.target === null && route.model !== "";
  return isBare && HUB_BARE_MODELS === "on" ? { target: "hub", model: route.model } : route;
}

/** Chooses the model of an id, which is sent in `where`. Throws 400 if it is missing or unknown. */
export function chooseModel(
  id: string | null | undefined,
  { where, rules }: { where: string; rules: ModelRules },
): ModelChoice {
  if (!id?.trim()) throw missingModel(where);
  const route = resolveModel(id, rules);
  const { target, model } = route;
  if (target) return { target, model };
  const shown = JSON.stringify(route.model.slice(0, 100));
  throw new AppError(400, "invalid_model_id", `cannot route model ${shown}: ${NEITHER}; ${ADVICE}`);
}

/** 400; `where` names the header or field that must have the model. */
export function missingModel(where: string): AppError {
  return new AppError(
    400,
    "missing_model_id",
    `cannot choose a model: send ${where}, a UUID or <provider>/<model>`,
  );
}

const NEITHER = "neither a UUID nor <provider>/<model>";

/** What an operator can do about an id that leads nowhere. */
const ADVICE = "HUB_BARE_MODELS=on sends other ids to the hub, MODEL_ALIASES gives one a meaning";

/** The body of `GET /route`: where a model id leads, and why. */
export function explainRoute(
  id: string,
  rules: ModelRules,
): { target: string | null; model: string; reason: string } {
  const { target, model } = resolveModel(id, rules);
  const reason = explain(model, target);
  return { target, model, reason: model === id.trim() ? reason : `alias of ${model}: ${reason}` };
}

function explain(model: string, target: RoutedModel["target"]): string {
  if (target === null) return `it is ${NEITHER}; ${ADVICE}`;
  return routeModel(model).target
    ? PROVIDERS[target].why
    : "HUB_BARE_MODELS is on: asked at the hub, unchanged";
}

/** The id of the embedded model, for `x-model-id`. */
export const DEMO_MODEL = "demo/assistant";

/** The embedded fine-tuned model: the same program with the short answers of a support desk. */
export const DEMO_STUDIO: ListedModel = {
  name: "demo-fine-tuned",
  id: "a55a9000-de30-4f1e-8a7e-000000000001",
};

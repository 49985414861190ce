import { z } from "zod";
import { Endpoint, ModelId } from "./evaluate_request.ts";

/** The most models per request; the limit on concurrent runs may be lower. */
export const MAX_TARGETS = 20;
const LONGEST_NAME = 256;

/** One of the models that a request evaluates. */
export const EvaluateTarget = z.strictObject({
  endpoint: Endpoint.meta({ description: "What `endpoint` of the request takes." }),
  model_id: ModelId.meta({ description: "The model at that endpoint." }),
  name: z.string().trim().min(1).max(LONGEST_NAME).optional().meta({
    description: "What tables call it; the model's id if unset.",
  }),
}).meta({ id: "EvaluateTarget", description: "One of the models that a request evaluates." });
export type EvaluateTarget = z.infer<typeof EvaluateTarget>;

/** A model of a group, with a unique name in it. */
export type NamedTarget = EvaluateTarget & { name: string };

/** Several models at one endpoint. */
function modelIds(most: number) {
  return z.array(ModelId).min(1).max(most, { error: tooMany(most) }).superRefine(
    (ids, context) => {
      for (const [index, id] of ids.entries()) {
        const first = ids.indexOf(id);
        if (first === index) continue;
        refuse(context, { path: [index], message: `is the same as model_ids.${first}` });
      }
    },
  );
}

/** Models at any endpoints, each with its name. */
function targets(most: number) {
  return z.array(EvaluateTarget).min(1).max(most, { error: tooMany(most) })
    .transform((all, context): NamedTarget[] => {
      const named = nameTargets(all);
      for (const [index, { name, model_id, endpoint }] of named.entries()) {
        const same = all.findIndex((other) =>
          other.model_id === model_id && other.endpoint === endpoint
        );
        const namesake = named.findIndex((other) => other.name === name);
        if (same < index) {
          refuse(context, { path: [index], message: `is the same as targets.${same}` });
        } else if (namesake < index) {
          const message = `must not be "${name}", which is the name of targets.${namesake}`;
          refuse(context, { path: [index, "name"], message });
        }
      }
      return named;
    });
}

/** Models with the same id get names that include their addresses. */
function nameTargets(all: EvaluateTarget[]): NamedTarget[] {
  return all.map((target) => {
    const { model_id, endpoint } = target;
    const isAlone = all.filter((other) => other.model_id === model_id).length === 1;
    const { host, pathname } = new URL(endpoint);
    const place = pathname === "/" ? host : host + pathname;
    return { ...target, name: target.name ?? (isAlone ? model_id : `${model_id} at ${place}`) };
  });
}

function tooMany(most: number): string {
  return `must have at most ${most} models`;
}

function refuse(
  { addIssue }: z.RefinementCtx,
  { path, message }: { path: PropertyKey[]; message: string },
): void {
  addIssue({ code: "custom", path, message });
}

const notWith = (other: string) =>
  z.undefined({ error: `must not be sent together with ${other}` }).optional();

/** The models of a body, and the body for the first of them alone. */
interface SeveralModels {
  targets: NamedTarget[];
  first: Record<string, unknown>;
}

/** The schema of a body with several models; `undefined` if the body does not have any. */
export function severalModels(value: unknown, most: number): z.ZodType<SeveralModels> | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  if ("targets" in value) {
    return z.looseObject({
      targets: targets(most),
      endpoint: notWith("targets"),
      model_id: notWith("targets"),
      model_ids: notWith("targets"),
    }).transform(({ targets, model_ids: _, ...shared }) => {
      const { endpoint, model_id } = targets[0]!;
      return { targets, first: { ...shared, endpoint, model_id } };
    });
  }
  if (!("model_ids" in value)) return undefined;
  return z.looseObject({
    model_ids: modelIds(most),
    endpoint: Endpoint,
    model_id: notWith("model_ids"),
  }).transform(({ model_ids, endpoint, ...shared }) => ({
    targets: model_ids.map((model_id) => ({ endpoint, model_id, name: model_id })),
    first: { ...shared, endpoint, model_id: model_ids[0] },
  }));
}

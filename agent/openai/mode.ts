import { isFields } from "../../shared/fields.ts";
import { missingModel } from "../models/choice.ts";

/** Ends the model id of a request that goes to the provider as it is. */
const SUFFIX = ":plain";

/** Who answers a request: the agent, or the model alone. */
export interface Mode {
  /** The model id, without the suffix. */
  model: string;
  isPlain: boolean;
}

/** A request is plain by the header `x-agent-tools: off`, or by the model's suffix `:plain`. */
export function readMode(model: string, headers: Headers): Mode {
  const id = model.trim();
  if (id.endsWith(SUFFIX)) return { model: id.slice(0, -SUFFIX.length), isPlain: true };
  const isPlain = headers.get("x-agent-tools")?.trim().toLowerCase() === "off";
  return { model: id, isPlain };
}

/** Throws 400 `missing_model_id` for a body without a model, before its schema has checked it. */
export function requireModel(body: unknown): void {
  if (isFields(body) && (body.model ?? null) === null) throw missingModel("the field model");
}

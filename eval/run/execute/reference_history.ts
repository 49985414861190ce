import { AppError, type FieldError } from "../../../shared/errors.ts";
import { referenceOf } from "../../assess/references.ts";
import { batchPath, type EvaluateRequest } from "../../schemas/evaluate_request.ts";

/** Only the first errors are listed, so that the answer stays small. */
const MOST_ERRORS = 100;

/** Throws 400 if turns are to be asked after references that are not there. */
export function requireReferences(
  { test_batch, history }: Pick<EvaluateRequest, "test_batch" | "history">,
): void {
  if (history !== "reference" && history !== "both") return;
  const message = `is required for history "${history}": a later turn is asked after it`;
  const errors = test_batch.flatMap(({ interactions }, index): FieldError[] =>
    interactions.slice(0, -1).flatMap((interaction, turn) => {
      if (referenceOf(interaction)) return [];
      const path = `${batchPath(test_batch, index)}.interactions.${turn}.reference_reply`;
      return [{ path, message }];
    })
  );
  const [first] = errors;
  if (!first) return;
  const detail = `cannot use the history: ${first.path} ${first.message}`;
  throw new AppError(400, "invalid_request", detail, { errors: errors.slice(0, MOST_ERRORS) });
}

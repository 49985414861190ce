import type { z } from "zod";
import type { FieldError } from "./errors.ts";

/** Only the first errors are listed, so that the answer stays small. */
const MOST_ERRORS = 100;

/** The errors of a schema, with the path of each field. */
export function listFieldErrors({ issues }: z.ZodError): FieldError[] {
  return issues.slice(0, MOST_ERRORS).flatMap((issue) => explain(issue)).slice(0, MOST_ERRORS);
}

/**
 * If a field may have several forms, the errors are those of the form that was meant: the one whose
 * outermost type fits.
 */
function explain(issue: z.core.$ZodIssue, parents: PropertyKey[] = []): FieldError[] {
  const path = [...parents, ...issue.path];
  const forms = issue.code === "invalid_union" ? issue.errors : [];
  const isMeant = (inner: z.core.$ZodIssue) =>
    inner.path.length > 0 || inner.code !== "invalid_type";
  const meant = forms.find((issues) => issues.every(isMeant));
  if (meant) return meant.flatMap((inner) => explain(inner, path));
  return [{ path: path.join("."), message: issue.message }];
}

import type { z } from "zod";
import { AppError } from "../../errors.ts";
import { listFieldErrors } from "../../field_errors.ts";

/** Reads and validates the query parameters of a URL. Throws 400 with the name of each invalid one. */
export function readQuery<T extends z.ZodType>(url: URL, schema: T): z.output<T> {
  return read(Object.fromEntries(url.searchParams), schema, "query");
}

/** The same for the parameters in a path. */
export function readParams<T extends z.ZodType>(
  params: Readonly<Record<string, string>>,
  schema: T,
): z.output<T> {
  return read(params, schema, "path");
}

function read<T extends z.ZodType>(
  values: Readonly<Record<string, string>>,
  schema: T,
  place: "query" | "path",
): z.output<T> {
  const result = schema.safeParse(values);
  if (result.success) return result.data;
  const errors = listFieldErrors(result.error, values);
  const detail = errors.map(({ path, message }) => `${path}: ${message}`).join("; ");
  throw new AppError(400, "invalid_request", `cannot use the ${place}: ${detail}`, { errors });
}

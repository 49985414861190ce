import type { z } from "zod";
import { AppError } from "../errors.ts";
import { listFieldErrors } from "../field_errors.ts";

/** Reads and validates the query parameters of a URL. Throws 400 with the name of each invalid one. */
export function readQuery<T extends z.ZodType>(url: URL, schema: T): z.output<T> {
  const result = schema.safeParse(Object.fromEntries(url.searchParams));
  if (result.success) return result.data;
  const errors = listFieldErrors(result.error);
  const detail = errors.map(({ path, message }) => `${path}: ${message}`).join("; ");
  throw new AppError(400, "invalid_request", `cannot use the query: ${detail}`, { errors });
}

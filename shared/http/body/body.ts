import type { z } from "zod";
import { AppError } from "../../errors.ts";
import { listFieldErrors } from "../../field_errors.ts";
import { type BodyLimits, readBodyText } from "./body_text.ts";

/** Reads and validates a JSON body. Throws 400 with the path of each invalid field. */
export async function readJson<T extends z.ZodType>(
  request: Request,
  schema: T,
  limits: BodyLimits,
): Promise<z.output<T>> {
  return checkBody(await readJsonValue(request, limits), schema);
}

/** Reads a JSON body of any shape. */
export async function readJsonValue(request: Request, limits: BodyLimits): Promise<unknown> {
  requireJson(request);
  const text = await readBodyText(request, limits);
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new AppError(400, "invalid_json", "cannot read the request body: it is not JSON", {
      cause,
    });
  }
}

/** Validates a body. Throws 400 with the path of each invalid field. */
export function checkBody<T extends z.ZodType>(value: unknown, schema: T): z.output<T> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw invalidBody(result.error, value);
}

/** 400 with the path of each invalid field. */
function invalidBody(error: z.ZodError, value: unknown): AppError {
  const errors = listFieldErrors(error, value);
  const [first] = errors;
  const where = first?.path ? `${first.path}: ${first.message}` : first?.message;
  return new AppError(400, "invalid_request", `cannot use the request body: ${where}`, { errors });
}

/** Only JSON: a page of another origin cannot send it without a preflight. */
function requireJson(request: Request): void {
  const type = request.headers.get("content-type")?.split(";")[0]?.trim().toLowerCase() ?? "";
  if (type === "application/json" || /^application\/[\w.-]+\+json$/.test(type)) return;
  throw new AppError(
    415,
    "unsupported_media_type",
    "cannot read the request body: send it with content-type: application/json",
  );
}

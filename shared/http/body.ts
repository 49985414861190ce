import type { z } from "zod";
import { AppError } from "../errors.ts";
import { listFieldErrors } from "../field_errors.ts";

export interface BodyLimits {
  /** A longer body is refused as soon as it is seen to be longer. */
  maxBytes: number;
}

/** Reads a JSON body and checks it; a body that fails is answered by name of the field. */
export async function readJson<T extends z.ZodType>(
  request: Request,
  schema: T,
  limits: BodyLimits,
): Promise<z.output<T>> {
  requireJson(request);
  const value = parseJson(await readText(request, limits.maxBytes));
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const errors = listFieldErrors(result.error);
  const [first] = errors;
  const where = first?.path ? `${first.path}: ${first.message}` : first?.message;
  throw new AppError(400, "invalid_request", `cannot use the request body: ${where}`, { errors });
}

/** Only JSON: a page in a browser cannot send it across origins without asking first. */
function requireJson(request: Request): void {
  const type = request.headers.get("content-type")?.split(";")[0]?.trim().toLowerCase() ?? "";
  if (type === "application/json" || /^application\/[\w.-]+\+json$/.test(type)) return;
  throw new AppError(
    415,
    "unsupported_media_type",
    "cannot read the request body: send it with content-type: application/json",
  );
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new AppError(400, "invalid_json", "cannot read the request body: it is not JSON", {
      cause,
    });
  }
}

async function readText(request: Request, maxBytes: number): Promise<string> {
  const tooLarge = () =>
    new AppError(413, "body_too_large", `cannot read the request body: over ${maxBytes} bytes`);
  if (Number(request.headers.get("content-length") ?? 0) > maxBytes) throw tooLarge();
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  for await (const chunk of request.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > maxBytes) throw tooLarge();
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

import { z } from "zod";
import type { ZodOpenApiOperationObject, ZodOpenApiResponseObject } from "zod-openapi";

/** What `/openapi.json` says of a service. `routes` has the keys of its routing table. */
export interface ApiDescription {
  title: string;
  description: string;
  routes: Record<string, ZodOpenApiOperationObject>;
}

/** The body of every error. */
export const ProblemDocument = z.object({
  type: z.string(),
  title: z.string(),
  status: z.int(),
  detail: z.string(),
  code: z.string(),
  request_id: z.string(),
  errors: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
}).meta({ id: "Problem", description: "An error, as RFC 9457 has it. `code` is stable." });

const RequestId = z.string().meta({
  description: "The caller's own id where it sent a sane one, else a new one.",
});

/** A successful answer in JSON. `headers` are those beside every answer's. */
export function jsonAnswer(
  description: string,
  schema: z.ZodType,
  headers: Record<string, z.ZodType> = {},
): ZodOpenApiResponseObject {
  return {
    description,
    headers: z.object({ "x-request-id": RequestId, ...headers }),
    content: { "application/json": { schema } },
  };
}

/** Errors by status; each text names the codes that it comes with. */
export function problems(
  byStatus: Record<string, string>,
): Record<`${1 | 2 | 3 | 4 | 5}${string}`, ZodOpenApiResponseObject> {
  return Object.fromEntries(
    Object.entries(byStatus).map(([status, description]) => [status, problem(description, status)]),
  );
}

function problem(description: string, status: string): ZodOpenApiResponseObject {
  const waits = status === "429" || status === "503";
  return {
    description,
    headers: z.object({
      "x-request-id": RequestId,
      ...(waits && { "retry-after": z.string().meta({ description: "Seconds to wait." }) }),
      ...(status === "429" && { ratelimit: z.string().optional() }),
    }),
    content: { "application/problem+json": { schema: ProblemDocument } },
  };
}

/** What any route may answer, beside its own. */
export const COMMON_PROBLEMS = problems({
  401: "`unauthorized`: a key is needed, and is missing or wrong",
  403: "`forbidden_origin`, `forbidden_host`",
  429: "`rate_limited`",
  500: "`internal`: the log has it under the request id",
  503: "`overloaded`, `shutting_down`",
});

/** What a route that reads a body may answer, beside those. */
export const BODY_PROBLEMS = problems({
  400: "`invalid_json`, `invalid_request`",
  408: "`request_timeout`: the body took too long to arrive",
  413: "`body_too_large`",
  415: "`unsupported_media_type`: only JSON, plain or gzip",
});

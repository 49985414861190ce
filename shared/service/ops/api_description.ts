import { z } from "zod";
import type { ZodOpenApiParameters, ZodOpenApiResponseObject } from "zod-openapi";

/** What a service is, as `GET /`, `/version` and `/openapi.json` say it. */
export interface About {
  name: string;
  description: string;
}

/** One route as `GET /` and `/openapi.json` describe it. */
export interface RouteDescription {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Such as `/runs/:id`, `/assets/*` or `/models/*id`. */
  path: `/${string}`;
  summary: string;
  /** How `GET /` shows the route; by default its path and its summary. */
  index?: { query?: string; text?: string };
  params?: ZodOpenApiParameters;
  /** The JSON body; `example` must be answered with success. */
  body?: { schema: z.ZodType; example: unknown; isOptional?: true };
  /** A body that is not JSON, or not only: by content type, each with an example. */
  files?: Record<string, { schema: z.ZodType; example: unknown }>;
  /** The successful answers by status. */
  answers: Record<number, ZodOpenApiResponseObject>;
  /** Errors by status, in addition to those of any route and any body; each text names the codes. */
  problems?: ProblemTexts;
  /** How its errors are written; as problem documents if it is unset. */
  errorFormat?: ErrorFormat;
}

/** `/runs/{id}` for `/runs/:id`, as OpenAPI and the index of `GET /` write it. */
export function templateOf(path: string): string {
  return path.replaceAll(/:(\w+)/g, "{$1}").replace(/\*(\w*)$/, (_, name) => `{${name || "rest"}}`);
}

/** The body of every error. */
export const ProblemDocument = z.object({
  type: z.string(),
  title: z.string(),
  status: z.int(),
  detail: z.string(),
  code: z.string(),
  request_id: z.string(),
  errors: z.array(
    z.object({ path: z.string(), message: z.string() }).meta({ id: "FieldError" }),
  ).optional(),
  provider: z.object({
    message: z.string(),
    type: z.string().nullable(),
    code: z.string().nullable(),
    param: z.string().nullable(),
    failed_generation: z.string().optional(),
    innererror: z.looseObject({}).optional(),
  }).optional().meta({
    id: "ProviderWords",
    description: "What the provider said, if its error is the cause.",
  }),
}).meta({ id: "Problem", description: "An error, as RFC 9457 has it. `code` is stable." });

const RequestId = z.string().meta({
  description: "The caller's own id if it sent a valid one, else a new one.",
});

/** Of `createRateLimit`. */
const RATE_LIMIT = {
  ratelimit: z.string().optional().meta({
    description: 'With `RATE_LIMIT`: what is left, and for how many seconds: `"default";r=9;t=42`.',
    header: { id: "ratelimit" },
  }),
  "ratelimit-policy": z.string().optional().meta({
    description: 'With `RATE_LIMIT`: requests per seconds: `"default";q=60;w=60`.',
    header: { id: "ratelimit-policy" },
  }),
};

/** Adds the headers that every answer has: the request's id, and the state of the rate limit. */
export function withCommonHeaders(
  answer: ZodOpenApiResponseObject,
  { limited }: { limited?: false | undefined },
): ZodOpenApiResponseObject {
  const own = answer.headers instanceof z.ZodObject ? answer.headers.shape : answer.headers;
  const ofLimit = limited === false ? {} : RATE_LIMIT;
  return { ...answer, headers: z.object({ "x-request-id": RequestId, ...ofLimit, ...own }) };
}

/** A successful answer in JSON, with headers of its own. */
export function jsonAnswer(
  description: string,
  schema: z.ZodType,
  headers: Record<string, z.ZodType> = {},
): ZodOpenApiResponseObject {
  return {
    description,
    headers: z.object(headers),
    content: { "application/json": { schema } },
  };
}

/** An answer that is a stream of events. */
export const eventsAnswer = (description: string): ZodOpenApiResponseObject =>
  orEvents({ description }, description);

/** The same answer, if it has content, or a stream of server-sent events, which `events` describes. */
export function orEvents(
  answer: ZodOpenApiResponseObject,
  events: string,
): ZodOpenApiResponseObject {
  const stream = { schema: z.string().meta({ description: events }) };
  return { ...answer, content: { ...answer.content, "text/event-stream": stream } };
}

/** Errors by status; each text names the possible codes. */
export type ProblemTexts = Record<number, string>;

/** How a route writes its errors. */
export interface ErrorFormat {
  contentType: string;
  schema: z.ZodType;
}

const PROBLEM_FORMAT: ErrorFormat = {
  contentType: "application/problem+json",
  schema: ProblemDocument,
};

/** Error answers in a format, by default as problem documents. */
export function describeErrors(
  byStatus: ProblemTexts,
  format: ErrorFormat = PROBLEM_FORMAT,
): Record<`${1 | 2 | 3 | 4 | 5}${string}`, ZodOpenApiResponseObject> {
  const asksProvider = 504 in byStatus; // no other answer is late: it is always `provider_timeout`
  return Object.fromEntries(
    Object.entries(byStatus).map(([status, description]) => [status, {
      description,
      headers: z.object(errorHeaders(status, asksProvider)),
      content: { [format.contentType]: { schema: format.schema } },
    }]),
  );
}

function errorHeaders(status: string, asksProvider: boolean): Record<string, z.ZodType> {
  const waits = status === "429" || status === "503";
  const isOfProvider = asksProvider && ["429", "502", "504"].includes(status);
  return {
    ...(status === "401" && { "www-authenticate": z.string().optional() }),
    ...(waits && {
      "retry-after": z.string().optional().meta({ description: "Seconds to wait." }),
    }),
    ...(isOfProvider && {
      "x-should-retry": z.enum(["false"]).optional().meta({
        description: "`false`: the service has retried already, its key is refused, or the " +
          "model's reply cannot be read.",
      }),
    }),
  };
}

/** Errors that any route may answer. */
export const COMMON_PROBLEMS: ProblemTexts = {
  401: "`unauthorized`: a key is needed, and is missing or wrong",
  403: "`forbidden_origin`, `forbidden_host`",
  429: "`rate_limited`",
  500: "`internal`: the log has it under the request id",
  503: "`overloaded`, `shutting_down`",
};

/** Errors that a route with a body may answer as well. */
export const BODY_PROBLEMS: ProblemTexts = {
  400: "`invalid_json`, `invalid_request`",
  408: "`request_timeout`: the body took too long to arrive",
  413: "`body_too_large`",
  415: "`unsupported_media_type`: only JSON, plain or gzip",
};

import { z } from "zod";
import { createDocument, type ZodOpenApiOperationObject } from "zod-openapi";
import { type ApiDescription, COMMON_PROBLEMS, jsonAnswer } from "./api_description.ts";
import type { Version } from "./version.ts";

/** Marks a route that nobody has described; a test looks for it. */
export const UNDESCRIBED = "undescribed";

const Reasons = z.object({
  status: z.string(),
  reasons: z.record(z.string(), z.string()),
  details: z.record(z.string(), z.string()).optional().meta({
    description: "What is missing, but is no reason not to send work here.",
  }),
});

const OPERATIONS: ApiDescription["routes"] = {
  "GET /healthz": {
    summary: "Is the process alive?",
    security: [],
    responses: { 200: jsonAnswer("It is.", z.object({ status: z.literal("ok") })) },
  },
  "GET /readyz": {
    summary: "Can the service take work?",
    security: [],
    responses: {
      200: jsonAnswer("It can.", Reasons),
      503: jsonAnswer("It cannot; the reasons say why.", Reasons),
    },
  },
  "GET /version": {
    summary: "What runs here",
    responses: {
      200: jsonAnswer(
        "Versions.",
        z.object({
          name: z.string(),
          version: z.string(),
          commit: z.string(),
          deno: z.string(),
          libraries: z.record(z.string(), z.string()),
        }),
      ),
    },
  },
  "GET /metrics": {
    summary: "Figures for Prometheus",
    responses: {
      200: { description: "Prometheus text.", content: { "text/plain": { schema: z.string() } } },
    },
  },
  "GET /openapi.json": {
    summary: "This document",
    responses: { 200: jsonAnswer("OpenAPI 3.1.", z.looseObject({ openapi: z.string() })) },
  },
};

/** OpenAPI 3.1 for every route that is `served`. */
export function createApiDocument(
  api: ApiDescription,
  { version, served }: { version: Version; served: string[] },
) {
  const described = { ...OPERATIONS, ...api.routes };
  const paths: Record<string, Record<string, ZodOpenApiOperationObject>> = {};
  for (const key of served) {
    const [method = "", pathname = ""] = key.split(" ");
    const path = pathname.replaceAll(/:(\w+)/g, "{$1}");
    const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
    const operation = described[key] ?? { summary: UNDESCRIBED, responses: {} };
    (paths[path] ??= {})[method.toLowerCase()] = {
      operationId: toOperationId(method, path),
      ...(names.length > 0 && {
        requestParams: { path: z.object(Object.fromEntries(names.map((n) => [n, z.string()]))) },
      }),
      ...operation,
      responses: { ...COMMON_PROBLEMS, ...operation.responses },
    };
  }
  return createDocument({
    openapi: "3.1.0",
    info: {
      title: api.title,
      description: api.description,
      version: version.version,
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: "/" }],
    security: [{}, { bearer: [] }, { apiKey: [] }],
    paths,
    components: {
      securitySchemes: {
        bearer: { type: "http", scheme: "bearer" },
        apiKey: { type: "apiKey", in: "header", name: "x-api-key" },
      },
    },
  });
}

function toOperationId(method: string, path: string): string {
  const words = path.split(/[^\w]+/).filter(Boolean);
  return [method.toLowerCase(), ...(words.length > 0 ? words : ["root"])].join("_");
}

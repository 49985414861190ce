import { z } from "zod";
import {
  createDocument,
  type ZodOpenApiOperationObject,
  type ZodOpenApiResponseObject,
  type ZodOpenApiResponsesObject,
} from "zod-openapi";
import { filterFields } from "../fields.ts";
import type { Route } from "../../http/router.ts";
import {
  type About,
  BODY_PROBLEMS,
  COMMON_PROBLEMS,
  describeErrors,
  type ProblemTexts,
  templateOf,
  withCommonHeaders,
} from "./api_description.ts";
import type { Version } from "./version.ts";

/** The OpenAPI 3.1 document of a service with these routes. */
export function createApiDocument(
  about: About,
  { version, routes }: { version: Version; routes: readonly Route[] },
) {
  const paths: Record<string, Record<string, ZodOpenApiOperationObject>> = {};
  for (const route of routes) {
    const path = templateOf(route.path);
    (paths[path] ??= {})[route.method.toLowerCase()] = describe(route, path);
  }
  return createDocument({
    openapi: "3.1.0",
    info: {
      title: about.name,
      description: about.description,
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

function describe(route: Route, path: string): ZodOpenApiOperationObject {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
  const inPath = names.length > 0 && {
    path: z.object(Object.fromEntries(names.map((name) => [name, z.string()]))),
  };
  const requestParams = { ...inPath, ...route.params };
  const { isOptional, ...body } = route.body ?? {};
  const content = route.files ?? (route.body && { "application/json": body });
  const answers: Record<string, ZodOpenApiResponseObject> = {
    ...describeErrors(
      { ...commonProblems(route), ...(content && BODY_PROBLEMS), ...route.problems },
      route.errorFormat,
    ),
    ...route.answers,
  };
  const responses: ZodOpenApiResponsesObject = Object.fromEntries(
    Object.entries(answers).map(([status, answer]) => [status, withCommonHeaders(answer, route)]),
  );
  return {
    operationId: toOperationId(route.method, path),
    summary: route.summary,
    ...(route.needsKey === false && { security: [] }),
    ...(Object.keys(requestParams).length > 0 && { requestParams }),
    ...(content && { requestBody: { required: !isOptional, content } }),
    responses,
  };
}

/** A route that needs no key, or is not limited, never answers that. */
function commonProblems({ needsKey, limited }: Route): ProblemTexts {
  const left = [...(needsKey === false ? ["401"] : []), ...(limited === false ? ["429"] : [])];
  return filterFields(COMMON_PROBLEMS, (_, status) => !left.includes(status));
}

function toOperationId(method: string, path: string): string {
  const words = path.split(/[^\w]+/).filter(Boolean);
  return [method.toLowerCase(), ...(words.length > 0 ? words : ["root"])].join("_");
}

import { assertEquals } from "@std/assert";
import {
  type ApiDocument,
  type ApiRoute,
  listRoutes,
  typeName,
} from "../../../shared/pages/docs/api_document.ts";
import {
  emptyForm,
  findMissing,
  toCurl,
  toTryRequest,
} from "../../../shared/pages/docs/try_request.ts";

const document: ApiDocument = {
  info: { title: "t", version: "1" },
  paths: {
    "/runs/{id}": {
      get: { responses: {} },
      post: {
        parameters: [
          { in: "path", name: "id", required: true },
          { in: "query", name: "limit" },
          { in: "header", name: "x-model-id", required: true, schema: { example: "demo/a" } },
        ],
        requestBody: { content: { "application/json": { example: { a: "it's" } } } },
        responses: {
          200: { description: "ok", content: { "application/json": {}, "text/event-stream": {} } },
        },
      },
    },
  },
  components: { schemas: { Turn: { type: "object", properties: {} } } },
};
const route = listRoutes(document)[1] as ApiRoute;

Deno.test("routes are listed by method and path", () => {
  assertEquals(listRoutes(document).map(({ name }) => name), ["GET /runs/{id}", "POST /runs/{id}"]);
});

Deno.test("types are named as people say them", () => {
  const turn = { $ref: "#/components/schemas/Turn" };
  assertEquals(typeName({ type: "array", items: turn }, document), "array of Turn");
  assertEquals(typeName({ anyOf: [turn, { type: "null" }] }, document), "Turn or null");
  assertEquals(typeName({ enum: ["a", "b"] }, document), '"a" or "b"');
  assertEquals(typeName({ type: "object", additionalProperties: turn }, document), "map of Turn");
});

Deno.test("a form begins with the examples, and knows what is missing", () => {
  const form = emptyForm(route);
  assertEquals(form, {
    values: { "header x-model-id": "demo/a" },
    body: '{\n  "a": "it\'s"\n}',
    accept: "application/json",
  });
  assertEquals(findMissing(route, form), ["id"]);
  assertEquals(findMissing(route, { ...form, values: {}, body: "{" }), [
    "id",
    "x-model-id",
    "body",
  ]);
});

Deno.test("a form becomes a request, and the same command for a shell", () => {
  const values = { "path id": "a/b", "query limit": "5", "header x-model-id": "m" };
  const request = toTryRequest(route, {
    values,
    body: '{"a":"it\'s"}',
    accept: "text/event-stream",
  });
  assertEquals(request, {
    method: "POST",
    path: "/runs/a%2Fb?limit=5",
    headers: { accept: "text/event-stream", "x-model-id": "m", "content-type": "application/json" },
    body: '{"a":"it\'s"}',
  });
  assertEquals(
    toCurl(request, "http://h"),
    "curl -s 'http://h/runs/a%2Fb?limit=5' \\\n  -H 'accept: text/event-stream' \\\n" +
      "  -H 'x-model-id: m' \\\n  -H 'content-type: application/json' \\\n  -d '{\"a\":\"it'\\''s\"}'",
  );
});

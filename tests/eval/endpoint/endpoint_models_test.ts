import { assertEquals, assertRejects } from "@std/assert";
import type { EvalConfig } from "../../../eval/config.ts";
import { createEndpointModels } from "../../../eval/endpoint/endpoint_models.ts";
import { createEndpointPolicy } from "../../../eval/endpoint/policy.ts";
import { AppError } from "../../../shared/errors.ts";

/** An endpoint that answers by path, and what was asked with which key. */
function lister(answers: Record<string, unknown>, listed = "http://model.example") {
  const asked: [string, string | null][] = [];
  const policy = createEndpointPolicy({
    EVAL_API_KEY: "secret",
    EVAL_CREDENTIALS: {},
    EVAL_ENDPOINTS: [listed],
  });
  const fetch = (input: string | URL | Request, init?: RequestInit) => {
    const { pathname } = new URL(String(input));
    asked.push([pathname, new Headers(init?.headers).get("authorization")]);
    const answer = answers[pathname];
    if (answer instanceof Error) return Promise.reject(answer);
    return Promise.resolve(Response.json(answer ?? {}, { status: answer ? 200 : 404 }));
  };
  const list = createEndpointModels({ endpoints: policy, fetchFor: () => fetch as typeof fetch });
  return { asked, list: (endpoint: string) => list(endpoint, new AbortController().signal) };
}

Deno.test("the models of an OpenAI endpoint are listed with the operator's key", async () => {
  const { asked, list } = lister({ "/v1/models": { data: [{ id: "a" }, { id: "b" }] } });
  assertEquals(await list("http://model.example/v1/"), [{ id: "a" }, { id: "b" }]);
  assertEquals(await list("http://model.example/v1/chat/completions"), [{ id: "a" }, { id: "b" }]);
  assertEquals(asked[0], ["/v1/models", "Bearer secret"]);
});

Deno.test("Together's models are listed, although its list has no data", async () => {
  const { list } = lister({ "/v1/models": [{ id: "meta/llama", type: "chat" }] });
  assertEquals(await list("http://model.example/v1"), [{ id: "meta/llama" }]);
});

Deno.test("an entry without a usable id hides none of the other models", async () => {
  const data = [{ id: "a" }, { name: "no id" }, { id: "x".repeat(257) }, null, { id: "b" }];
  const { list } = lister({ "/v1/models": { data } });
  assertEquals(await list("http://model.example/v1"), [{ id: "a" }, { id: "b" }]);
});

Deno.test("an agent's fine-tuned models are listed by name beside its others", async () => {
  const { list } = lister({
    "/v1/models": { data: [{ id: "demo/assistant" }] },
    "/studio/models": { tuned: "uuid" },
  });
  assertEquals(await list("http://model.example"), [
    { id: "demo/assistant" },
    { id: "uuid", name: "tuned" },
  ]);
});

Deno.test("what else a host answers is no list of models", async () => {
  const { list } = lister({ "/models": { message: "Welcome" }, "/v1/models": { data: [] } });
  assertEquals(await list("http://model.example"), []);
});

Deno.test("the models of an endpoint below a path are listed where replies would be asked for", async () => {
  const { asked, list } = lister({
    "/ollama/v1/models": { data: [{ id: "a" }] },
    "/ollama/studio/models": { tuned: "uuid" },
  });
  const models = [{ id: "a" }, { id: "uuid", name: "tuned" }];
  assertEquals(await list("http://model.example/ollama/"), models);
  assertEquals(asked.map(([path]) => path), [
    "/ollama/models",
    "/ollama/v1/models",
    "/ollama/studio/models",
  ]);
});

Deno.test("the models of an endpoint are asked for with its query", async () => {
  const urls: string[] = [];
  const endpoints = createEndpointPolicy({ EVAL_ENDPOINTS: [] } as unknown as EvalConfig);
  const fetch = (url: string) => {
    urls.push(url);
    return Promise.resolve(Response.json({ data: [] }));
  };
  const list = createEndpointModels({
    endpoints,
    fetchFor: () => fetch as unknown as typeof globalThis.fetch,
  });
  await list("http://model.example/v1?key=a/", new AbortController().signal);
  assertEquals(urls, ["http://model.example/v1/models?key=a/"]);
});

Deno.test("an endpoint without a list has no models, and a dead one says so", async () => {
  assertEquals(await lister({}).list("http://model.example"), []);
  assertEquals(await lister({ "/v1/models": { data: 7 } }).list("http://model.example/v1"), []);
  const dead = lister({ "/v1/models": new TypeError("connection refused") });
  const error = await assertRejects(() => dead.list("http://model.example/v1"), AppError);
  assertEquals([error.status, error.code], [502, "provider_error"]);
});

Deno.test("the models of an endpoint that is not listed are not asked for", async () => {
  const { asked, list } = lister({});
  const error = await assertRejects(() => list("http://other.example/v1"), AppError);
  assertEquals([error.status, error.code, asked], [403, "endpoint_not_allowed", []]);
});

import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { EvalConfig } from "../../../eval/config.ts";
import { createEndpointClient } from "../../../eval/ask/client.ts";
import { baseAddresses, endpointKind, withoutQuery } from "../../../eval/ask/endpoint_address.ts";
import { createEndpointModels } from "../../../eval/ask/endpoint_models.ts";
import { createEndpointPace, type EndpointPace } from "../../../eval/ask/pace.ts";
import { createEndpointPolicy } from "../../../eval/ask/policy.ts";
import { createEvalHandler } from "../../../eval/handler.ts";
import { createEvalDeps } from "../../../eval/wiring.ts";
import { parseConfig } from "../../../shared/service/config.ts";
import { AppError } from "../../../shared/service/errors.ts";
import { silentLogger } from "../../../shared/service/log.ts";
import { ProviderError } from "../../../shared/providers/provider.ts";
import { evaluateBody, evaluateRequestOf, evaluateWith } from "../../fakes/eval_service.ts";
import { memoryStore } from "../../fakes/memory_store.ts";
import {
  type Answer,
  completion,
  completionBody,
  completionChunks,
  errorStatus,
  sse,
  startProviderDouble,
} from "../../fakes/provider_double.ts";

function service(store = memoryStore()) {
  const config = parseConfig(EvalConfig, { MODEL_RETRIES: "0" });
  return createEvalHandler(createEvalDeps(config, { log: silentLogger, store }));
}

Deno.test("settings of the model are passed on unchanged", async () => {
  await using double = await startProviderDouble(completion({ content: "Paris" }));
  const parameters = {
    temperature: 0.2,
    top_p: 0.9,
    reasoning_effort: "low",
    stop: ["END"],
    min_tokens: 3,
    logit_bias: { "50256": -100 },
  };
  const body = evaluateBody({ endpoint: double.baseUrl, parameters });
  await evaluateWith(service(), body);
  const { model: _, messages: __, ...sent } = double.requests[0]!.body as Record<string, unknown>;
  assertEquals(sent, parameters);
});

Deno.test("settings that a call sets by itself are refused by their names", async () => {
  const names = ["model", "messages", "stream", "stream_options", "n"];
  const parameters = Object.fromEntries(names.map((name) => [name, 1]));
  const response = await service()(evaluateRequestOf(evaluateBody({ parameters })));
  const { errors } = await response.json();
  assertEquals(
    errors.map(({ path }: { path: string }) => path),
    names.map((name) => `parameters.${name}`),
  );
});

const streamed = sse(completionChunks({ content: "Paris" }));

Deno.test("the time to the first token is measured if replies are streamed, or a check asks for it", async () => {
  await using double = await startProviderDouble(streamed);
  const checks = [
    { type: "max_first_token_ms", value: 60_000 },
    { type: "max_first_token_ms", value: 0, negate: true, name: "it takes time" },
  ];
  const turn = { id: "t", user_message: "The capital of France?" };
  const bodies = [
    { stream_replies: true, test_batch: { id: "s", interactions: [turn] } },
    { test_batch: { id: "s", interactions: [{ ...turn, checks }] } },
  ];
  const store = memoryStore();
  const handler = service(store);
  for (const body of bodies) {
    const { results, run_id } = await evaluateWith(
      handler,
      evaluateBody({ endpoint: double.baseUrl, ...body }),
    );
    const [result] = results.scenarios[0]!.attempts[0]!.interactions;
    assertEquals([result!.agent_reply, result!.usage?.total_tokens !== undefined], ["Paris", true]);
    assert(result!.first_token_ms! <= result!.latency_ms!);
    assertEquals((double.requests.at(-1)!.body as { stream?: boolean }).stream, true);
    const summary = await (await handler(
      new Request(`http://127.0.0.1/runs/${run_id}/summary`),
    )).json();
    assertEquals(summary.first_token_ms.p50, result!.first_token_ms);
  }
  const plain = await evaluateWith(
    handler,
    evaluateBody({ endpoint: double.baseUrl, test_batch: { id: "s", interactions: [turn] } }),
  );
  assertEquals((double.requests.at(-1)!.body as { stream?: boolean }).stream, undefined);
  assert(plain.results.scenarios[0]);
});

Deno.test("an endpoint that does not stream does not meet the check, and one without stream_options is asked again", async () => {
  const answers: Answer[] = [
    errorStatus(400, { message: "stream_options is not permitted" }),
    completion({ content: "Paris" }),
  ];
  await using double = await startProviderDouble(answers);
  const checks = [{ type: "max_first_token_ms", value: 60_000 }];
  const interactions = [{ id: "t", user_message: "The capital of France?", checks }];
  const { results } = await evaluateWith(
    service(),
    evaluateBody({ endpoint: double.baseUrl, test_batch: { id: "s", interactions } }),
  );
  const [result] = results.scenarios[0]!.attempts[0]!.interactions;
  assertEquals([result!.agent_reply, result!.first_token_ms], ["Paris", undefined]);
  assertStringIncludes(result!.check_results![0]!.reason!, "did not stream the reply");
  assertEquals(double.requests.map(({ body }) => "stream_options" in (body as object)), [
    true,
    false,
  ]);
});

Deno.test("a scenario's system prompt is sent instead of the run's, and returned with it", async () => {
  await using double = await startProviderDouble(() =>
    Promise.resolve(Response.json(completionBody({ content: "Paris" })))
  );
  const service = createEvalHandler(
    createEvalDeps(parseConfig(EvalConfig, {}), { log: silentLogger, store: memoryStore() }),
  );
  const interactions = [{ id: "1", user_message: "The capital of France?" }];
  const { results } = await evaluateWith(
    service,
    evaluateBody({
      test_batch: [
        { id: "own", system_prompt: "One word.", interactions },
        { id: "run's", system_prompt: "", interactions },
        { id: "run's too", system_prompt: null, interactions },
      ],
      endpoint: `${double.baseUrl}/v1`,
      parameters: { system_prompt: "Be kind." },
    }),
  );
  assertEquals(results.scenarios[0]!.system_prompt, "One word.");
  const sent = double.requests.map(({ body }) => body.messages as { content: string }[]);
  assertEquals(sent.map((messages) => messages.map(({ content }) => content)).sort(), [
    ["Be kind.", "The capital of France?"],
    ["Be kind.", "The capital of France?"],
    ["One word.", "The capital of France?"],
  ]);
});

Deno.test("an endpoint that repeats its address in an error does not show its query", async () => {
  let status = 404;
  await using server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, (request) => {
    const { pathname, search } = new URL(request.url);
    return Response.json({ detail: `No route for ${pathname}${search}` }, { status });
  });
  const config = parseConfig(EvalConfig, { MODEL_RETRIES: "0" });
  const deps = createEvalDeps(config, { log: silentLogger, store: memoryStore() });
  using _checks = deps.scoring.checks;
  const endpoint = `http://127.0.0.1:${server.addr.port}/v1?deployment=INTERNAL`;
  for (status of [404, 400, 500]) {
    const { results } = await evaluateWith(
      createEvalHandler(deps),
      evaluateBody({
        endpoint,
        test_batch: { id: "s", interactions: [{ id: "1", user_message: "hi" }] },
      }),
    );
    const { error } = results.scenarios[0]!.attempts[0]!.interactions[0]!;
    const [said] = /No route for [^\s;]+/.exec(error!.detail)!;
    assertEquals([status, said], [status, "No route for /v1/chat/completions?[secret]"]);
  }
});

const MEANT: [endpoint: string, bases: string[], kind: "openai" | undefined][] = [
  ["http://h:1", ["http://h:1", "http://h:1/v1"], undefined],
  ["http://h:1/?key=a", ["http://h:1?key=a", "http://h:1/v1?key=a"], undefined],
  ["http://h/ollama/", ["http://h/ollama", "http://h/ollama/v1"], undefined],
  ["http://h/v1", ["http://h/v1"], "openai"],
  ["http://h/api/v1beta/openai/", ["http://h/api/v1beta/openai"], "openai"],
  ["http://h/chat/completions", ["http://h"], "openai"],
  ["http://h/v1/chat/completions/?a=1", ["http://h/v1?a=1"], "openai"],
  ["http://h/review1", ["http://h/review1", "http://h/review1/v1"], undefined],
];

Deno.test("an address says which addresses of an API it may mean, and whether it names one", () => {
  for (const [endpoint, bases, kind] of MEANT) {
    assertEquals([baseAddresses(endpoint), endpointKind({ endpoint })], [bases, kind], endpoint);
    assertEquals(endpointKind({ endpoint, protocol: "agent" }), "agent");
  }
});

Deno.test("a query is kept as it is, also if it ends in a slash", () => {
  assertEquals(baseAddresses("http://h/v1?key=YQ/"), ["http://h/v1?key=YQ/"]);
  assertEquals(baseAddresses("http://h/?key=a/?b"), ["http://h?key=a/?b", "http://h/v1?key=a/?b"]);
});

Deno.test("an address in a message has neither a query nor a user with a password", () => {
  assertEquals(withoutQuery("https://u:p@h.example/v1/?key=secret#more"), "https://h.example/v1");
});

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
  const read = (endpoint: string) => list(endpoint, new AbortController().signal);
  return { asked, read, list: async (endpoint: string) => (await read(endpoint)).models };
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

Deno.test("of a list of more than 10,000 models the rest is left out, and the answer says so", async () => {
  const data = Array.from({ length: 10_001 }, (_, index) => ({ id: `acme/${index}` }));
  const { models, is_cut } = await lister({ "/v1/models": { data } }).read(
    "http://model.example/v1",
  );
  assertEquals([models.length, is_cut], [10_000, true]);
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

const TIMEOUT_MS = 2_000;

function ask(fetch: typeof globalThis.fetch, pace: EndpointPace = createEndpointPace(8)) {
  const client = createEndpointClient({
    modelId: "m",
    credential: undefined,
    timeoutMs: TIMEOUT_MS,
    retries: 0,
    fetch,
    pace,
  });
  const read = (response: Response) => response.json();
  const call = { url: "http://127.0.0.1:9/", body: {}, read };
  return client.post(call, new AbortController().signal);
}

/** Answers soon, unless it is aborted. */
const answer: typeof globalThis.fetch = (_input, init) =>
  new Promise((resolve, reject) => {
    init!.signal!.addEventListener("abort", () => reject(init!.signal!.reason));
    setTimeout(() => resolve(Response.json({ text: "fine" })), 5);
  });

Deno.test("the wait for the pace counts neither as time of the call nor as latency", async () => {
  const pace = createEndpointPace(8);
  const late: EndpointPace = {
    ...pace,
    async run(call, options) {
      await new Promise((resolve) => setTimeout(resolve, TIMEOUT_MS + 50));
      return await pace.run(call, options);
    },
  };
  const reply = await ask(answer, late);
  assertEquals(reply.value, { text: "fine" });
  assert(reply.latencyMs <= TIMEOUT_MS, `${reply.latencyMs} ms`);
});

Deno.test("an attempt that hangs ends at its timeout", async () => {
  const hang: typeof globalThis.fetch = (_input, init) =>
    new Promise((_resolve, reject) => {
      init!.signal!.addEventListener("abort", () => reject(init!.signal!.reason));
    });
  const error = await assertRejects(() => ask(hang), ProviderError);
  assertEquals(error.failure, { kind: "timeout" });
});

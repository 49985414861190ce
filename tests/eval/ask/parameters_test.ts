import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { createEndpointClient } from "../../../eval/ask/client.ts";
import { createEndpointPace, type EndpointPace } from "../../../eval/ask/pace.ts";
import {
  callRoute,
  evaluateBody,
  evaluateRequestOf,
  evaluateWith,
  wiredService,
} from "../../fakes/eval_service.ts";
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
  return wiredService({}, store).service;
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
  const { service } = wiredService();
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
  using wired = wiredService();
  const endpoint = `http://127.0.0.1:${server.addr.port}/v1?deployment=INTERNAL`;
  for (status of [404, 400, 500]) {
    const { results } = await evaluateWith(
      wired.service,
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

Deno.test("the error of a dead endpoint does not show its query", async () => {
  using wired = wiredService();
  const { results } = await evaluateWith(
    wired.service,
    evaluateBody({ endpoint: "http://127.0.0.1:9/v1/?version=hidden#more" }),
  );
  const { detail } = results.scenarios[0]!.attempts[0]!.interactions[0]!.error!;
  assert(!/hidden|more/.test(detail), detail);
});

/** What a service lists for an endpoint of a host that answers by path, and what it asked there. */
async function listAt(path: string, answers: Record<string, unknown>) {
  const asked: [path: string, key: string | null][] = [];
  await using server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    ({ url, headers }) => {
      const { pathname, search } = new URL(url);
      asked.push([pathname + search, headers.get("authorization")]);
      const answer = answers[pathname];
      return Response.json(answer ?? {}, { status: answer ? 200 : 404 });
    },
  );
  const origin = `http://127.0.0.1:${server.addr.port}`;
  using wired = wiredService({ EVAL_API_KEY: "secret", EVAL_ENDPOINTS: origin });
  const endpoint = encodeURIComponent(origin + path);
  const response = await callRoute(wired.service, `GET /models?endpoint=${endpoint}`);
  return { asked, ...await response.json() };
}

const AB = { data: [{ id: "a" }, { id: "b" }] };
const TUNED = { id: "uuid", name: "tuned" };
const LISTS: [what: string, path: string, answers: Record<string, unknown>, models: unknown[]][] = [
  ["an OpenAI endpoint", "/v1/", { "/v1/models": AB }, AB.data],
  ["a route of OpenAI", "/v1/chat/completions", { "/v1/models": AB }, AB.data],
  ["Together, whose list has no data", "/v1", { "/v1/models": [{ id: "m", type: "chat" }] }, [
    { id: "m" },
  ]],
  ["entries without a usable id", "/v1", {
    "/v1/models": { data: [{ id: "a" }, { name: "no id" }, { id: "x".repeat(257) }, null] },
  }, [{ id: "a" }]],
  ["an agent with fine-tuned models", "", {
    "/v1/models": { data: [{ id: "demo/assistant" }] },
    "/studio/models": { tuned: "uuid" },
  }, [{ id: "demo/assistant" }, TUNED]],
  [
    "a host that is no API",
    "",
    { "/models": { message: "Welcome" }, "/v1/models": { data: [] } },
    [],
  ],
  ["a list that is none", "/v1", { "/v1/models": { data: 7 } }, []],
  ["a host without a list", "", {}, []],
];
for (const [what, path, answers, models] of LISTS) {
  Deno.test(`the models of an endpoint are listed: ${what}`, async () => {
    assertEquals((await listAt(path, answers)).models, models);
  });
}

Deno.test("models are asked for where replies would be, with the query and the operator's key", async () => {
  const { asked, models } = await listAt("/ollama/?version=a/", {
    "/ollama/v1/models": { data: [{ id: "a" }] },
    "/ollama/studio/models": { tuned: "uuid" },
  });
  assertEquals(models, [{ id: "a" }, TUNED]);
  assertEquals(
    asked,
    ["/models", "/v1/models", "/studio/models"].map((path) => [
      `/ollama${path}?version=a/`,
      "Bearer secret",
    ]),
  );
});

Deno.test("of a list of more than 10,000 models the rest is left out, and the answer says so", async () => {
  const data = Array.from({ length: 10_001 }, (_, index) => ({ id: `acme/${index}` }));
  const { models, is_cut } = await listAt("/v1", { "/v1/models": { data } });
  assertEquals([models.length, is_cut], [10_000, true]);
});

Deno.test("models of a dead endpoint, or of one that is not listed, are not listed", async () => {
  using wired = wiredService({ EVAL_ENDPOINTS: "http://127.0.0.1:9" });
  for (const [port, code] of [[9, "provider_error"], [10, "endpoint_not_allowed"]] as const) {
    const response = await callRoute(
      wired.service,
      `GET /models?endpoint=http://127.0.0.1:${port}/v1`,
    );
    assertEquals((await response.json()).code, code);
  }
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

import { assert, assertEquals } from "@std/assert";
import { completion, startProviderDouble } from "../fakes/provider_double.ts";
import { withNonce } from "../fakes/scoring_ports.ts";
import { startServiceProcess } from "../fakes/service_process.ts";
import { startValidatingProxy, type ValidatingProxy } from "./proxy.ts";

/** Both services behind a proxy that checks every request and answer against `/openapi.json`. */

interface Sent {
  body?: unknown;
  headers?: Record<string, string>;
  status: number;
}

/** Sends a request through the proxy; answers its text, if it has the status. */
async function send(
  proxy: ValidatingProxy,
  what: string,
  { body, headers = {}, status }: Sent,
): Promise<string> {
  const [method = "", path = ""] = what.split(" ");
  const response = await fetch(proxy.url + path, {
    method,
    headers: { ...(body !== undefined && { "content-type": "application/json" }), ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  assertEquals(response.status, status, `${what}: ${text.slice(0, 500)}`);
  return text;
}

/** Described operations without a successful answer. */
async function unseen(upstream: string, seen: Set<string>): Promise<string[]> {
  const { paths } = await (await fetch(`${upstream}/openapi.json`, { headers: KEY })).json();
  return Object.entries<object>(paths).flatMap(([path, operations]) =>
    Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`)
  ).filter((operation) => ![...seen].some((answer) => answer.startsWith(`${operation} 2`)));
}

const KEY = { "x-api-key": "k" };
const FOR_OPERATORS = ["/", "/healthz", "/readyz", "/version", "/metrics", "/openapi.json"];
const MESSAGES = [{ type: "human", content: "What is 17 * 23?" }];
const CHAT = [{ role: "user", content: "What is 17 * 23?" }];
const MODEL = { "x-model-id": "acme/small" };

Deno.test("agent: every route answers what its description says, to a proxy that checks it", async () => {
  await using hub = await startProviderDouble((request) => {
    if (request.path === "/v1/models") return Response.json({ data: [{ id: "acme/small" }] });
    if (request.body.model === "acme/broken") return Response.json({}, { status: 500 });
    return completion({ content: "It is 391." })(request);
  });
  const environment = {
    HUB_BASE_URL: hub.baseUrl,
    STUDIO_MODELS: "{}",
    MODEL_RETRIES: "0",
    API_KEYS: "k",
  };
  await using agent = await startServiceProcess("agent", { environment });
  await using proxy = await startValidatingProxy(agent.url, { headers: KEY });
  const described: [what: string, Sent][] = [
    ...[
      ...FOR_OPERATORS,
      ...["/tools", "/studio/models", "/route?model=acme/small"],
      ...["/v1/models", "/v1/models/acme%2Fsmall"],
    ]
      .map((path): [string, Sent] => [`GET ${path}`, { headers: KEY, status: 200 }]),
    ["POST /", { body: { messages: MESSAGES }, headers: { ...KEY, ...MODEL }, status: 200 }],
    ["POST /", { body: { prompt: "Hello" }, headers: { ...KEY, ...MODEL }, status: 200 }],
    ["POST /v1/chat/completions", {
      body: { model: "acme/small", messages: CHAT },
      headers: KEY,
      status: 200,
    }],
    ["POST /ai-sdk", {
      body: {
        id: "chat-1",
        messages: [{ id: "1", role: "user", parts: [{ type: "text", text: "Hello" }] }],
      },
      headers: { ...KEY, ...MODEL, "x-agent-resume": "true" },
      status: 200,
    }],
    ["GET /ai-sdk/chat-1/stream", { headers: KEY, status: 200 }],
    ["GET /ai-sdk/none/stream", { headers: KEY, status: 204 }],
    ["GET /streams/chat-1", { headers: { ...KEY, "last-event-id": "chat-1/2" }, status: 200 }],
    ["POST /ag-ui", {
      body: {
        threadId: "t",
        runId: "r",
        messages: [{ id: "1", role: "user", content: "Hello" }],
        tools: [],
        context: [],
      },
      headers: { ...KEY, ...MODEL },
      status: 200,
    }],
    ...["Hello", [{ role: "user", content: [{ type: "input_text", text: "Hello" }] }]]
      .map((input): [string, Sent] => [
        "POST /v1/responses",
        { body: { model: "acme/small", input }, headers: KEY, status: 200 },
      ]),
  ];
  for (const [what, sent] of described) await send(proxy, what, sent);
  assertEquals(await unseen(agent.url, proxy.seen), []);

  await using lenient = await startValidatingProxy(agent.url, {
    headers: KEY,
    checksRequests: false,
  });
  const broken = { "x-model-id": "acme/broken" };
  const refused: [what: string, Sent][] = [
    ["POST /", { body: { messages: MESSAGES }, headers: MODEL, status: 401 }],
    ["POST /", { body: { messages: MESSAGES }, headers: KEY, status: 400 }],
    ["POST /", { body: { messages: [] }, headers: { ...KEY, ...MODEL }, status: 400 }],
    ["POST /", { body: { messages: MESSAGES }, headers: { ...KEY, ...broken }, status: 502 }],
    ["POST /v1/chat/completions", { body: { model: "a/b", messages: CHAT }, status: 401 }],
    ["POST /v1/chat/completions", { body: { model: "a/b" }, headers: KEY, status: 400 }],
    ["POST /v1/chat/completions", {
      body: { model: "acme/broken", messages: CHAT },
      headers: KEY,
      status: 502,
    }],
    ["POST /v1/responses", { body: { model: "a/b" }, headers: KEY, status: 400 }],
    ["POST /ai-sdk", {
      body: { id: "c", messages: [] },
      headers: { ...KEY, ...MODEL },
      status: 400,
    }],
    ["POST /ag-ui", { body: {}, headers: { ...KEY, ...MODEL }, status: 400 }],
    ["GET /streams/none", { headers: KEY, status: 404 }],
    ["GET /v1/models", { status: 401 }],
    ["GET /v1/models/acme%2Fnone", { headers: KEY, status: 404 }],
    ["GET /route?model=", { headers: KEY, status: 400 }],
  ];
  for (const [what, sent] of refused) {
    const text = await send(lenient, what, sent);
    assertEquals("error" in JSON.parse(text), what.includes("/v1/"), `${what}: ${text}`);
  }
  assertEquals([...proxy.violations, ...lenient.violations], []);
});

Deno.test("eval: every route answers what its description says, to a proxy that checks it", async () => {
  const held = Promise.withResolvers<void>();
  await using endpoint = await startProviderDouble(async (request) => {
    const { model, messages } = request.body;
    if (model === "acme/judge") {
      const task: string = messages[0].content;
      const verdict = task.includes('"labels"')
        ? '{"labels": {"intent": "greeting"}, "confidence": 0.9}'
        : task.includes('"better"')
        ? '{"better": "tie", "reason": "so"}'
        : '{"reason": "so", "grade": 8}';
      return completion({ content: withNonce(verdict, task) })(request);
    }
    if (model === "acme/stuck" && messages.length === 1) return Response.json({}, { status: 400 });
    if (model === "acme/stuck") await held.promise;
    return completion({ content: "Hello, may I help?" })(request);
  });
  await using service = await startServiceProcess("eval", {
    environment: {
      MODEL_RETRIES: "0",
      JUDGE_BASE_URL: endpoint.baseUrl,
      JUDGE_MODEL: "acme/judge",
    },
  });
  await using proxy = await startValidatingProxy(service.url);
  const interactions = [{
    id: "1",
    user_message: "Hello!",
    reference_reply: "Hello, how can I help?",
    reference_metadata: { intent: "greeting" },
    own: "the caller's",
  }];
  const body = {
    test_batch: [{ id: "greeting", interactions, own: 1 }],
    endpoint: endpoint.baseUrl,
    model_id: "acme/small",
    attempts: 2,
    own: { of: "the caller" },
  };
  const idOf = (answer: string): string => JSON.parse(answer).run_id;
  const baseline = idOf(await send(proxy, "POST /evaluate", { body, status: 200 }));
  const run = idOf(await send(proxy, "POST /evaluate", { body, status: 200 }));
  await send(proxy, "POST /evaluate", {
    body: { ...body, test_batch: { id: "greeting", interactions } },
    headers: { accept: "text/event-stream" },
    status: 200,
  });
  const paths = [
    ...FOR_OPERATORS,
    ...["json", "jsonl", "csv", "junit", "markdown", "html"]
      .map((format) => `/runs/${run}/export?format=${format}&bom=off`),
    ...["/scores", "/scores/self-test", "/runs?limit=2", `/runs/${run}`, `/runs/${run}/events`],
    `/compare?baseline=${baseline}&candidate=${run}`,
    `/compare/scenarios?baseline=${baseline}&candidate=${run}`,
    `/compare/turns?baseline=${baseline}&candidate=${run}&sort=-change`,
    `/runs/${run}/turns?sort=-overall&limit=1&fields=all`,
    `/runs/${run}/turns/0/1/0`,
    `/runs/${run}/summary`,
    `/runs/${run}?result=false`,
    `/models?endpoint=${encodeURIComponent(body.endpoint)}`,
    `/runs/${run}/scenarios`,
    "/turns?text=hello",
  ];
  for (const path of paths) await send(proxy, `GET ${path}`, { status: 200 });
  await send(proxy, "POST /compare", { body: { baseline, candidate: run }, status: 200 });
  await send(proxy, `PATCH /runs/${run}`, { body: { tags: ["main"] }, status: 200 });
  for (const [attempt, value] of [[1, 0.5], [2, 1]]) {
    const grade = { value, author: "ann", label: "fine", comment: "yes" };
    await send(proxy, `PUT /runs/${run}/turns/0/${attempt}/0/grade`, { body: grade, status: 200 });
  }
  for (const path of ["turns/0/1/0/grades", "grades", "agreement", "export"]) {
    await send(proxy, `GET /runs/${run}/${path}`, { status: 200 });
  }
  await send(proxy, `DELETE /runs/${run}/turns/0/1/0/grade?author=ann`, { status: 200 });
  await send(proxy, `PUT /runs/${run}/grades`, {
    body: { scenario: 0, attempt_id: 1, turn: 0, value: 1, author: "bob" },
    headers: { "content-type": "application/jsonl" },
    status: 200,
  });
  const gate = { min_pass_rate: 0 };
  await send(proxy, `POST /runs/${run}/gate`, { body: gate, status: 200 });
  await send(proxy, `GET /runs/${run}/baseline?name=latest`, { status: 200 });
  const scenarios = { test_batch: body.test_batch };
  const training = { run_ids: [run], format: "kto" };
  await send(proxy, "POST /runs/export", { body: training, status: 200 });
  await send(proxy, "POST /datasets", { body: scenarios, status: 200 });
  await send(proxy, "PUT /datasets/support", { body: scenarios, status: 201 });
  await send(proxy, "PUT /datasets/support", { body: scenarios, status: 200 });
  const { test_batch: _, ...withoutBatch } = body;
  await send(proxy, "PATCH /datasets/support", { body: { tags: ["mine"] }, status: 200 });
  const stored = { ...withoutBatch, dataset: "support" };
  await send(proxy, "POST /evaluate", { body: stored, status: 200 });
  for (const path of ["", "/support", "/support?format=jsonl", "/support/versions"]) {
    await send(proxy, `GET /datasets${path}`, { status: 200 });
  }
  const lines = { "content-type": "application/jsonl" };
  const row = { body: { prompt: "Hello" }, headers: lines, status: 200 };
  await send(proxy, "POST /datasets/support/leaks", row);
  await send(proxy, "GET /datasets/support/leaks", { status: 200 });
  await send(proxy, `GET /runs/${run}/leaks`, { status: 200 });
  await send(proxy, "DELETE /datasets/support", { status: 204 });
  const end = { headers: { "last-event-id": "end" }, status: 204 };
  await send(proxy, `GET /runs/${run}/events`, end);
  await send(proxy, `GET /runs/${run}/request`, { status: 200 });
  const checks = [{ type: "contains", value: "never" }];
  await send(proxy, `POST /runs/${run}/rescore`, { body: { checks }, status: 202 });

  const { model_id: __, ...several } = { ...body, model_ids: ["acme/small", "acme/large"] };
  const group = JSON.parse(await send(proxy, "POST /evaluate", { body: several, status: 200 }));
  const selected = `group=${group.group_id}`;
  for (const query of ["", "&decide_by=chrf", "&pairs=false"]) {
    await send(proxy, `GET /compare?${selected}${query}`, { status: 200 });
  }
  for (const format of ["json", "jsonl", "csv", "junit", "markdown", "html"]) {
    const query = `${selected}&format=${format}&bom=off`;
    await send(proxy, `GET /compare/export?${query}`, { status: 200 });
  }
  const events = { accept: "text/event-stream" };
  await send(proxy, `GET /compare?${selected}`, { headers: events, status: 200 });
  await send(proxy, `GET /compare?${selected}`, {
    ...end,
    headers: { ...events, ...end.headers },
  });
  await send(proxy, `GET /runs?group=${group.group_id}`, { status: 200 });
  await send(proxy, `DELETE /runs/${baseline}`, { status: 204 });

  const stuck = {
    ...body,
    model_id: "acme/stuck",
    test_batch: { id: "s", interactions: [...interactions, ...interactions] },
    protocol: "openai",
    parameters: { system_prompt: "Be short." },
  };
  const headers = { prefer: "respond-async", "idempotency-key": "k" };
  const begun = idOf(await send(proxy, "POST /evaluate", { body: stuck, headers, status: 202 }));
  await send(proxy, `GET /runs/${begun}`, { status: 200 });
  const { endpoint: at, model_id, ...shared } = stuck;
  const begunGroup = JSON.parse(
    await send(proxy, "POST /evaluate", {
      body: { ...shared, targets: [{ endpoint: at, model_id, name: "one" }] },
      headers: { prefer: "respond-async" },
      status: 202,
    }),
  );
  await send(proxy, `GET /compare?group=${begunGroup.group_id}`, { status: 200 });
  await send(proxy, `GET /compare/export?group=${begunGroup.group_id}`, { status: 409 });
  const [{ run_id: early }] = begunGroup.runs;
  await send(proxy, `POST /runs/${early}/interrupt`, { status: 202 });
  await send(proxy, `GET /runs/${begun}/export`, { status: 409 });
  await send(proxy, `POST /runs/${begun}/cancel`, { status: 200 });
  const written = JSON.parse(await send(proxy, `GET /runs/${begun}/export`, { status: 200 }));
  await send(proxy, "POST /runs", { body: written, status: 200 });
  await send(proxy, `POST /runs/${begun}/retry`, { status: 202 });
  await send(proxy, "POST /evaluate", { body, headers, status: 422 });
  held.resolve();
  await send(proxy, `GET /runs/${early}/events?turns=false`, { status: 200 });
  await send(proxy, `POST /runs/${early}/resume`, { body: {}, status: 202 });
  assertEquals(await unseen(service.url, proxy.seen), []);

  await using lenient = await startValidatingProxy(service.url, { checksRequests: false });
  const refused: [what: string, Sent][] = [
    ["POST /evaluate", { body: { ...body, endpoint: "no address" }, status: 400 }],
    ["POST /evaluate", { body: { ...body, attempts: 1_000_000 }, status: 400 }],
    ["GET /runs?limit=0", { status: 400 }],
    ["GET /runs/none", { status: 404 }],
    ["GET /runs/none/turns", { status: 404 }],
    ["GET /runs/none/turns?limit=0", { status: 400 }],
    ["GET /runs/none/export?format=docx", { status: 400 }],
    ["GET /compare?baseline=a&candidate=b", { status: 404 }],
    [`PUT /runs/${run}/turns/0/1/0/grade`, { body: { value: 2 }, status: 400 }],
    [`GET /runs/${run}/turns/9/1/0/grades`, { status: 404 }],
    [`DELETE /runs/${run}/turns/0/1/0/grade`, { status: 404 }],
    ["GET /datasets/none", { status: 404 }],
    ["PUT /datasets/support?format=xml", { body: scenarios, status: 400 }],
    ["POST /runs/none/cancel", { status: 404 }],
    ["DELETE /runs/none", { status: 404 }],
    ["POST /evaluate", { body: { ...several, model_ids: [] }, status: 400 }],
    ["GET /compare?group=none", { status: 404 }],
    ["GET /compare", { status: 400 }],
    ["GET /compare/export?runs=none", { status: 404 }],
  ];
  for (const [what, sent] of refused) {
    assert(JSON.parse(await send(lenient, what, sent)).code, what);
  }
  assertEquals([...proxy.violations, ...lenient.violations], []);
});

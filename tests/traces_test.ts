import {
  assert,
  assertEquals,
  assertMatch,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import {
  completion,
  completionChunks,
  hang,
  json,
  type ProviderDouble,
  sse,
  startProviderDouble,
} from "./fakes/provider_double.ts";
import { exportMetricsTo, exportTo } from "./fakes/export_to.ts";
import { type ServiceProcess, startServiceProcess } from "./fakes/service_process.ts";
import { until } from "./fakes/until.ts";

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const TRACEPARENT = `00-${TRACE}-b7ad6b7169203331-01`;

function ask(
  agent: ServiceProcess,
  traceparent = TRACEPARENT,
  signal: AbortSignal | null = null,
): Promise<Response> {
  return fetch(agent.url, {
    signal,
    method: "POST",
    headers: { "content-type": "application/json", "x-model-id": "acme/m", traceparent },
    body: JSON.stringify({ messages: [{ type: "human", content: "What time is it?" }] }),
  });
}

interface Span {
  name: string;
  traceId: string;
  /** 2 is an error. */
  status: { code?: number };
  attributes: Record<string, unknown>;
  events: { name: string; attributes: Record<string, unknown> }[];
}

/** A list of OTLP's attributes as an object. */
// deno-lint-ignore no-explicit-any -- OTLP, of which a few fields are read
const toObject = (attributes: any[] = []) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));

/** What an OpenTelemetry collector was sent, in OTLP's JSON. */
// deno-lint-ignore no-explicit-any -- OTLP, of which a few fields are read
function spansOf(bodies: any[]): Span[] {
  return bodies
    .flatMap(({ resourceSpans = [] }) => resourceSpans)
    .flatMap(({ scopeSpans }) => scopeSpans)
    .flatMap(({ spans }) => spans)
    .map(({ name, traceId, status, attributes, events = [] }) => ({
      name,
      traceId,
      status,
      attributes: toObject(attributes),
      // deno-lint-ignore no-explicit-any -- as above
      events: events.map((event: any) => ({ ...event, attributes: toObject(event.attributes) })),
    }));
}

/** The attributes of the points of a metric that have arrived, once there are any. */
async function awaitPoints(
  collector: ProviderDouble,
  name: string,
): Promise<Record<string, unknown>[]> {
  return await until(() => {
    const points = collector.requests.filter(({ path }) => path === "/v1/metrics")
      .flatMap(({ body }) => body.resourceMetrics)
      .flatMap(({ scopeMetrics }) => scopeMetrics)
      .flatMap(({ metrics }) => metrics)
      .filter((metric) => metric.name === name)
      .flatMap(({ histogram }) => histogram.dataPoints);
    return points.length > 0 && points.map(({ attributes }) => toObject(attributes));
  }, { what: `a metric "${name}" is sent` });
}

/** The spans of a name that have arrived, once there are any. */
async function awaitSpans(collector: ProviderDouble, name: string): Promise<Span[]> {
  return await until(() => {
    const bodies = collector.requests.filter(({ path }) => path === "/v1/traces");
    const found = spansOf(bodies.map(({ body }) => body)).filter((span) => span.name === name);
    return found.length > 0 && found;
  }, { what: `a span "${name}" is sent` });
}

Deno.test("a call whose caller has left is marked so in the trace, and is no error", async () => {
  await using collector = await startProviderDouble(json({}));
  await using hub = await startProviderDouble(hang());
  await using agent = await startServiceProcess("agent", {
    environment: { HUB_BASE_URL: hub.baseUrl, ...exportTo(collector) },
  });
  const leaving = new AbortController();
  const answer = ask(agent, TRACEPARENT, leaving.signal);
  await hub.received();
  leaving.abort();
  await assertRejects(() => answer);
  for (const name of ["chat acme/m", "POST /"]) {
    const [span] = await awaitSpans(collector, name);
    assertEquals([span?.attributes["error.type"], span?.status.code ?? 0], ["left", 0], name);
  }
});

Deno.test("with OTEL_DENO a caller's trace continues through our spans to the provider", async () => {
  await using collector = await startProviderDouble(json({}));
  await using hub = await startProviderDouble([
    completion({ toolCalls: [{ name: "current_time", arguments: "{}" }] }),
    completion({ content: "noon" }),
  ]);
  await using agent = await startServiceProcess("agent", {
    environment: { HUB_BASE_URL: hub.baseUrl, ...exportTo(collector) },
  });
  await (await ask(agent)).text();
  assertEquals(hub.requests[0]?.headers.get("traceparent")?.slice(0, 36), `00-${TRACE}-`);

  const exported = () =>
    spansOf(collector.requests.filter(({ path }) => path === "/v1/traces").map(({ body }) => body));
  const find = (name: string) => exported().filter((span) => span.name === name);
  await until(() => find("POST /").length > 0);

  const [model] = find("chat acme/m");
  assertEquals(model?.traceId, TRACE);
  assertEquals(model?.attributes["gen_ai.operation.name"], "chat");
  assertEquals(model?.attributes["gen_ai.provider.name"], "hub");
  assertEquals(Number(model?.attributes["gen_ai.usage.output_tokens"]), 7);
  const [tool] = find("execute_tool current_time");
  assertEquals([tool?.traceId, tool?.attributes["gen_ai.tool.name"]], [TRACE, "current_time"]);
  assertMatch(String(tool?.attributes["gen_ai.tool.call.id"]), /^call/);
  const { hostname, port } = new URL(hub.baseUrl);
  assertEquals(
    ["server.address", "server.port"].map((name) => String(model?.attributes[name])),
    [hostname, port],
  );
  const [run] = find("invoke_agent assay-agent");
  assertEquals(run?.attributes["gen_ai.operation.name"], "invoke_agent");
  assertEquals(Number(run?.attributes["gen_ai.usage.output_tokens"]), 14);
  assertEquals(find("POST /")[0]?.traceId, TRACE);
  const text = JSON.stringify(exported());
  assert(!text.includes("What time is it?"), "what was said is in the trace");
});

Deno.test("a streamed call has the time of its first chunk, its cached and its reasoning tokens", async () => {
  await using collector = await startProviderDouble(json({}));
  const usage = {
    prompt_tokens: 9,
    completion_tokens: 5,
    total_tokens: 14,
    prompt_tokens_details: { cached_tokens: 4 },
    completion_tokens_details: { reasoning_tokens: 3 },
  };
  const chunks = completionChunks({ content: "noon" });
  const last = { ...chunks[0] as Record<string, unknown>, choices: [], usage };
  await using hub = await startProviderDouble(sse([...chunks, last]));
  await using agent = await startServiceProcess("agent", {
    environment: { HUB_BASE_URL: hub.baseUrl, ...exportMetricsTo(collector) },
  });
  const response = await fetch(`${agent.url}/ai-sdk`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-model-id": "acme/m" },
    body: JSON.stringify({
      id: "chat-1",
      messages: [{ id: "1", role: "user", parts: [{ type: "text", text: "When?" }] }],
    }),
  });
  await response.text();
  const [chat] = await awaitSpans(collector, "chat acme/m");
  assertEquals(chat?.attributes["gen_ai.request.stream"], true);
  assert(Number(chat?.attributes["gen_ai.response.time_to_first_chunk"]) > 0);
  assertEquals(
    ["cache_read.input_tokens", "reasoning.output_tokens"]
      .map((name) => Number(chat?.attributes[`gen_ai.usage.${name}`])),
    [4, 3],
  );
  const [run] = await awaitSpans(collector, "invoke_agent assay-agent");
  assertEquals(run?.attributes["gen_ai.conversation.id"], "chat-1");
  const [duration] = await awaitPoints(collector, "gen_ai.client.operation.duration");
  assertEquals(
    ["operation.name", "provider.name", "request.model"].map((name) =>
      duration?.[`gen_ai.${name}`]
    ),
    ["chat", "hub", "acme/m"],
  );
  const points = await awaitPoints(collector, "gen_ai.client.token.usage");
  const types = new Set(points.map((point) => point["gen_ai.token.type"]));
  assertEquals(types, new Set(["input", "output"]));
});

Deno.test("what was said is in the spans of model calls only if that is switched on", async () => {
  const RECORDS = { OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: "true" };
  await using collector = await startProviderDouble(json({}));
  await using hub = await startProviderDouble([
    completion({
      toolCalls: [{ id: "c1", name: "calculator", arguments: '{"expression":"1+1"}' }],
    }),
    completion({ content: "It is 2." }),
  ]);
  await using agent = await startServiceProcess("agent", {
    environment: { HUB_BASE_URL: hub.baseUrl, ...exportTo(collector), ...RECORDS },
  });
  await using evaluation = await startServiceProcess("eval", {
    environment: { ...exportTo(collector), ...RECORDS },
  });
  const response = await fetch(`${evaluation.url}/evaluate`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      test_batch: { id: "s", interactions: [{ id: "i", user_message: "1 + 1?" }] },
      endpoint: agent.url,
      model_id: "acme/m",
    }),
  });
  await response.text();
  const spans = await until(async () => {
    const found = await awaitSpans(collector, "chat acme/m");
    return found.length === 3 && found;
  }, { what: "three model calls" });
  const read = (span: Span, name: string) =>
    JSON.parse(String(span.attributes[`gen_ai.${name}.messages`]));
  const ofProvider = (name: string) =>
    spans.filter(({ attributes }) => attributes["gen_ai.provider.name"] === name);
  const [endpoint] = ofProvider("endpoint");
  assertEquals(read(endpoint!, "input"), [{
    role: "user",
    parts: [{ type: "text", content: "1 + 1?" }],
  }]);
  const answer = {
    role: "assistant",
    parts: [{ type: "text", content: "It is 2." }],
    finish_reason: "stop",
  };
  assertEquals(read(endpoint!, "output"), [answer]);
  const [, second] = ofProvider("hub");
  assertEquals(read(second!, "output"), [answer]);
  assertEquals(read(second!, "input").slice(-2), [
    {
      role: "assistant",
      parts: [{
        type: "tool_call",
        id: "c1",
        name: "calculator",
        arguments: '{"expression":"1+1"}',
      }],
    },
    { role: "tool", parts: [{ type: "tool_call_response", id: "c1", response: "2" }] },
  ]);
});

Deno.test("each score of a reply is an event in the trace of its evaluation", async () => {
  await using collector = await startProviderDouble(json({}));
  await using endpoint = await startProviderDouble(completion({ content: "Hello" }));
  await using evaluation = await startServiceProcess("eval", { environment: exportTo(collector) });
  const response = await fetch(`${evaluation.url}/evaluate`, {
    method: "POST",
    headers: { "content-type": "application/json", traceparent: TRACEPARENT },
    body: JSON.stringify({
      test_batch: {
        id: "s",
        interactions: [{ id: "i", user_message: "Hi", reference_reply: "Hello" }],
      },
      endpoint: endpoint.baseUrl,
      model_id: "m",
    }),
  });
  const { results } = await response.json();
  const { scores } = results.scenarios[0].attempts[0].interactions[0];
  const [span] = await awaitSpans(collector, "evaluate");
  assertEquals(span?.traceId, TRACE);
  const told = span!.events.filter(({ name }) => name === "gen_ai.evaluation.result")
    .map(({ attributes }) => [
      attributes["gen_ai.evaluation.name"],
      attributes["gen_ai.evaluation.score.value"],
    ]);
  const expected = Object.entries(scores).filter(([, value]) => typeof value === "number");
  assertEquals(Object.fromEntries(told), Object.fromEntries(expected));
  assertEquals(Object.fromEntries(told).exact_match, 1);
});

Deno.test("a request without a trace is no part of the trace of one that loaded code", async () => {
  await using collector = await startProviderDouble(json({}));
  await using hub = await startProviderDouble([
    completion({ toolCalls: [{ name: "calculator", arguments: '{"expression":"1+1"}' }] }),
    completion({ content: "2" }),
  ]);
  await using agent = await startServiceProcess("agent", {
    environment: { HUB_BASE_URL: hub.baseUrl, ...exportTo(collector) },
  });
  await (await ask(agent)).text();
  assertEquals(hub.requests.length, 2, "the calculator was not loaded");
  await (await fetch(`${agent.url}/tools`, { headers: { connection: "close" } })).text();
  for (const name of ["GET /tools", "GET"]) { // ours, and Deno's own of the same request
    const spans = await awaitSpans(collector, name);
    assertEquals(spans.filter(({ traceId }) => traceId === TRACE), [], name);
  }
});

Deno.test("without OTEL_DENO a caller's traceparent is passed on as it came", async () => {
  await using hub = await startProviderDouble(completion());
  await using agent = await startServiceProcess("agent", {
    environment: { HUB_BASE_URL: hub.baseUrl },
  });
  await (await ask(agent)).text();
  assertEquals(hub.requests[0]?.headers.get("traceparent"), TRACEPARENT);
  for (const bad of ["nonsense", `00-${"0".repeat(32)}-b7ad6b7169203331-01`]) {
    await (await ask(agent, bad)).text();
    assertEquals(hub.requests.at(-1)?.headers.get("traceparent"), null);
  }
});

Deno.test("an evaluation passes its caller's traceparent on to the endpoint", async () => {
  await using endpoint = await startProviderDouble(completion());
  await using evaluation = await startServiceProcess("eval");
  const response = await fetch(`${evaluation.url}/evaluate`, {
    method: "POST",
    headers: { "content-type": "application/json", traceparent: TRACEPARENT },
    body: JSON.stringify({
      test_batch: { id: "s", interactions: [{ id: "i", user_message: "Hi" }] },
      endpoint: endpoint.baseUrl,
      model_id: "m",
    }),
  });
  await response.text();
  assertEquals(endpoint.requests[0]?.headers.get("traceparent"), TRACEPARENT);
});

Deno.test("the span of a reply without usage has no tokens, rather than 0", async () => {
  await using collector = await startProviderDouble(json({}));
  await using endpoint = await startProviderDouble(
    json({ choices: [{ message: { role: "assistant", content: "Hi" } }] }),
  );
  await using evaluation = await startServiceProcess("eval", { environment: exportTo(collector) });
  const response = await fetch(`${evaluation.url}/evaluate`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      test_batch: { id: "s", interactions: [{ id: "i", user_message: "Hi" }] },
      endpoint: endpoint.baseUrl,
      model_id: "m",
    }),
  });
  await response.text();
  const [span] = await awaitSpans(collector, "chat m");
  assertEquals(span?.attributes["gen_ai.request.model"], "m");
  assertEquals(span?.attributes["gen_ai.usage.input_tokens"], undefined);
});

Deno.test("calls of the judge are counted and traced beside those of the endpoint", async () => {
  await using collector = await startProviderDouble(json({}));
  await using models = await startProviderDouble(completion());
  await using evaluation = await startServiceProcess("eval", {
    environment: {
      ...exportTo(collector),
      JUDGE_BASE_URL: models.baseUrl,
      JUDGE_MODEL: "judge-1",
    },
  });
  const interaction = { id: "i", user_message: "Hi", reference_reply: "Hello" };
  const response = await fetch(`${evaluation.url}/evaluate`, {
    method: "POST",
    headers: { "content-type": "application/json", traceparent: TRACEPARENT },
    body: JSON.stringify({
      test_batch: { id: "s", interactions: [interaction] },
      endpoint: models.baseUrl,
      model_id: "m",
    }),
  });
  await response.text();
  const metrics = await (await fetch(`${evaluation.url}/metrics`)).text();
  // The double is no judge, so it was asked once more.
  assertStringIncludes(metrics, 'assay_model_calls_total{provider="judge",outcome="ok"} 2');
  assertStringIncludes(metrics, 'assay_tokens_total{provider="judge",direction="output"} 14');
  assertStringIncludes(metrics, 'assay_model_calls_total{provider="endpoint",outcome="ok"} 1');
  const [span] = await awaitSpans(collector, "chat judge-1");
  assertEquals([span?.traceId, span?.attributes["gen_ai.provider.name"]], [TRACE, "judge"]);
  assertEquals(Number(span?.attributes["gen_ai.usage.output_tokens"]), 7);
});

Deno.test("the request's log line says who asked which model at what cost", async () => {
  await using hub = await startProviderDouble(completion());
  await using agent = await startServiceProcess("agent", {
    environment: { HUB_BASE_URL: hub.baseUrl, API_KEYS: "ada:the-key" },
  });
  const response = await fetch(agent.url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "x-model-id": "acme/m",
      "x-api-key": "the-key",
      "x-request-id": "id-1",
    },
    body: JSON.stringify({ messages: [{ type: "human", content: "Hi" }] }),
  });
  await response.text();
  const line = agent.lines.find((line) => line.includes('"request"')) ?? "{}";
  const { time, ms, ...rest } = JSON.parse(line);
  assertMatch(time, /^\d{4}-/);
  assert(ms >= 0);
  assertEquals(rest, {
    level: "info",
    message: "request",
    method: "POST",
    path: "/",
    route: "POST /",
    status: 200,
    request_id: "id-1",
    caller: "ada",
    model: "acme/m",
    input_tokens: 5,
    output_tokens: 7,
    model_calls: 1,
    tool_calls: 0,
  });
});

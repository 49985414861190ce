import { assert, assertEquals, assertMatch } from "@std/assert";
import { createLogger } from "../../../shared/log.ts";
import { ProviderError } from "../../../shared/providers/provider.ts";
import { agentRequestOf, agentService } from "../../fakes/agent_service.ts";
import { readEvents } from "../../fakes/events.ts";
import { createScriptedProvider, never, type Step } from "../../fakes/scripted_provider.ts";
import { until } from "../../fakes/until.ts";

const BODY = { messages: [{ type: "human", content: "Hi" }] };
const STREAM = { headers: { accept: "text/event-stream" } };
const USAGE = {
  promptTokens: 10,
  completionTokens: 2,
  totalTokens: 12,
  promptDetails: { cached_tokens: 3 },
  completionDetails: null,
};
const SUM: Step = {
  content: "Let me see.",
  toolCalls: [{ id: "c1", name: "calculator", arguments: '{"expression":"2+2"}' }],
  usage: USAGE,
};

function stream(...steps: Step[]): Promise<Response> {
  return agentService(createScriptedProvider(...steps)).service(agentRequestOf(BODY, STREAM));
}

Deno.test("a run is streamed as tokens, tool calls, results, message and cost", async () => {
  const response = await stream(SUM, { content: "It is 4.", usage: USAGE });
  assertEquals(response.status, 200);
  assertMatch(response.headers.get("content-type") ?? "", /^text\/event-stream/);
  const events = await Array.fromAsync(readEvents(response));
  const told = events.map(({ event, data }) => [event, data.text ?? data.content ?? data.args]);
  assertEquals(told.slice(0, -2), [
    ["token", "Let "],
    ["token", "me "],
    ["token", "see."],
    ["tool_call", { expression: "2+2" }],
    ["tool_result", "4"],
    ["token", "It "],
    ["token", "is "],
    ["token", "4."],
  ]);
  const result = events.find(({ event }) => event === "tool_result")?.data;
  assertEquals(Object.keys(result), ["id", "name", "content", "status", "ms"]);
  assertEquals([result.id, result.name, result.status], ["c1", "calculator", "ok"]);
  assertEquals(events.slice(-2).map(({ event }) => event), ["message", "done"]);
  const { model_ms, tools_ms, ...account } = events.at(-1)!.data;
  assertEquals(account, {
    model: "a/b",
    model_calls: 2,
    tool_calls: 1,
    input_tokens: 20,
    output_tokens: 4,
    stopped: null,
    history_repairs: null,
  });
  assert(model_ms >= 0 && tools_ms >= 0);
});

Deno.test("the streamed message is the body of the plain answer, except for its id", async () => {
  const steps = [SUM, { content: "It is 4.", usage: USAGE, systemFingerprint: "fp" }];
  const plain = await agentService(createScriptedProvider(...steps)).service(agentRequestOf(BODY));
  const events = await Array.fromAsync(readEvents(await stream(...steps)));
  const { id, ...message } = events.find(({ event }) => event === "message")!.data;
  const { id: plainId, ...expected } = await plain.json();
  assertEquals(message, expected);
  assertEquals(Object.keys(message), Object.keys(expected));
  assertEquals(message.usage_metadata.input_tokens, 10);
  assert(id !== plainId);
});

Deno.test("reasoning is streamed separately from the answer", async () => {
  const provider = createScriptedProvider({ content: "4." });
  const { stream: answer } = provider;
  provider.stream = async function* (request, options) {
    yield { type: "reasoning", text: "Two and two" };
    yield* answer(request, options);
  };
  const response = await agentService(provider).service(agentRequestOf(BODY, STREAM));
  const [first, second] = await Array.fromAsync(readEvents(response));
  assertEquals(first, { event: "reasoning", data: { text: "Two and two" } });
  assertEquals(second?.event, "token");
});

Deno.test("a caller that does not ask for a stream gets JSON", async () => {
  for (const accept of ["application/json", "*/*", "application/json, text/event-stream"]) {
    const { service } = agentService(createScriptedProvider({}));
    const response = await service(agentRequestOf(BODY, { headers: { accept } }));
    assertMatch(response.headers.get("content-type") ?? "", /^application\/json/);
    await response.body?.cancel();
  }
});

Deno.test("an invalid request for a stream gets a problem document, without a provider call", async () => {
  const provider = createScriptedProvider({});
  const response = await agentService(provider).service(agentRequestOf({}, STREAM));
  assertEquals([response.status, (await response.json()).code], [400, "invalid_request"]);
  assertEquals(provider.requests, []);
});

Deno.test("a run that fails before its first event has the error's status and an error event", async () => {
  const error = new ProviderError(429, "rate_limited", "busy", { kind: "status", status: 429 });
  const response = await stream(error);
  assertEquals(response.status, 429);
  const [event, ...more] = await Array.fromAsync(readEvents(response));
  assertEquals([event?.event, event?.data.code, more], ["error", "rate_limited", []]);
  assertEquals(event?.data.request_id, response.headers.get("x-request-id"));
});

Deno.test("a run that fails later ends with the problem as an event", async () => {
  const error = new ProviderError(502, "provider_error", "gone", { kind: "unreachable" });
  const response = await stream(SUM, error);
  assertEquals(response.status, 200);
  const events = await Array.fromAsync(readEvents(response));
  assertEquals(events.at(-1)?.event, "error");
  assertEquals(events.at(-1)?.data.status, 502);
  assert(!events.some(({ event }) => event === "message"));
});

Deno.test("an internal error is not described in the stream either", async () => {
  const response = await stream(SUM, new TypeError("secret of the inside"));
  const text = await response.text();
  assert(text.includes('"code":"internal"') && !text.includes("secret"), text);
});

Deno.test("the provider is read no faster than the client reads", async () => {
  let given = 0;
  const provider = createScriptedProvider({});
  provider.stream = async function* () {
    for (;; given++) yield { type: "text", text: "word " };
  };
  const response = await agentService(provider).service(agentRequestOf(BODY, STREAM));
  const reader = response.body!.getReader();
  let read = 0;
  while (read < 50_000) read += (await reader.read()).value!.byteLength;
  await new Promise((resolve) => setTimeout(resolve, 20));
  const event = 'event: token\ndata: {"text":"word "}\n\n'.length;
  const ahead = given * event - read;
  assert(ahead < 40_000, `${ahead} bytes were taken from the provider that nobody has read`);
  await reader.cancel();
});

Deno.test("a reader that leaves ends the run, whether it waits for the model or for the reader", async () => {
  const waits: [string, (signal: AbortSignal) => AsyncGenerator<{ type: "text"; text: string }>][] =
    [
      ["the model", async function* () {
        yield { type: "text", text: "first" };
        await never();
      }],
      ["the reader", async function* () {
        for (;;) yield { type: "text", text: "word" };
      }],
    ];
  for (const [what, generate] of waits) {
    let hasLeft = false;
    const provider = createScriptedProvider({});
    provider.stream = (_, { signal } = {}) => {
      signal?.addEventListener("abort", () => hasLeft = true);
      return generate(signal!);
    };
    const response = await agentService(provider).service(agentRequestOf(BODY, STREAM));
    const reader = response.body!.getReader();
    await reader.read();
    await reader.cancel();
    await until(() => hasLeft, { what: `the run ends while it waits for ${what}` });
  }
});

Deno.test("a caller that leaves before the first event is not answered", async () => {
  const controller = new AbortController();
  const provider = createScriptedProvider(() => never());
  const answer = agentService(provider).service(
    agentRequestOf(BODY, { ...STREAM, signal: controller.signal }),
  );
  setTimeout(() => controller.abort(), 5);
  assertEquals((await answer).status, 499);
});

function logged(...steps: Step[]) {
  const lines: Record<string, unknown>[] = [];
  const write = (line: string) => void lines.push(JSON.parse(line));
  const log = createLogger({ level: "info", format: "json", write });
  const { service } = agentService(createScriptedProvider(...steps), { log });
  return { service, lines };
}

/** The agent's own stream, and that of OpenAI clients. */
const STREAMS: Record<string, (signal?: AbortSignal) => Request> = {
  "POST /": (signal) => agentRequestOf(BODY, { ...STREAM, ...(signal && { signal }) }),
  "POST /v1/chat/completions": (signal) =>
    new Request("http://127.0.0.1:8000/v1/chat/completions", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({
        model: "a/b",
        messages: [{ role: "user", content: "Hi" }],
        stream: true,
      }),
      ...(signal && { signal }),
    }),
};

for (const [route, request] of Object.entries(STREAMS)) {
  Deno.test(`${route}: a stream writes one log line, at its end, with the cost of the run`, async () => {
    const { service, lines } = logged(async () => {
      await new Promise((resolve) => setTimeout(resolve, 30));
      return { content: "It is 4.", usage: USAGE };
    });
    const response = await service(request());
    const reader = response.body!.getReader();
    await reader.read();
    assertEquals(lines, []);
    while (!(await reader.read()).done);
    const [{ time: _, ms, ...line }, ...more] = lines as [Record<string, unknown>];
    assert(Number(ms) >= 25, `${ms}`);
    assertEquals([line, more], [{
      level: "info",
      message: "request",
      method: "POST",
      path: route.split(" ")[1],
      route,
      status: 200,
      request_id: response.headers.get("x-request-id"),
      model: "a/b",
      input_tokens: 10,
      output_tokens: 2,
      model_calls: 1,
      tool_calls: 0,
    }, []]);
  });

  Deno.test(`${route}: the log line says that a stream failed, and why`, async () => {
    const told = new ProviderError(429, "rate_limited", "busy", { kind: "status", status: 429 });
    const ours = new TypeError("secret of the inside");
    const expected = [["warn", "ProviderError: busy"], ["error", "TypeError at streamed_answer"]];
    for (const [index, error] of [told, ours].entries()) {
      const { service, lines } = logged(SUM, error);
      await (await service(request())).text();
      const [{ level, status, outcome, error: why }, ...more] = lines as [Record<string, unknown>];
      assertEquals([status, outcome, more], [200, "failed", []]);
      assertEquals([level, String(why).split("_test")[0]], expected[index]);
    }
  });

  Deno.test(`${route}: the log line says that the reader left, by either way`, async () => {
    for (const way of ["cancels the body", "closes the connection"]) {
      const { service, lines } = logged(SUM, () => never());
      const controller = new AbortController();
      const response = await service(request(controller.signal));
      const reader = response.body!.getReader();
      await reader.read();
      if (way === "cancels the body") await reader.cancel();
      else controller.abort();
      await until(() => lines.length > 0);
      assertEquals(lines.map(({ outcome }) => outcome), ["client left"], way);
    }
  });
}

Deno.test("a run that fails before its first event writes one log line, with its status", async () => {
  for (const request of Object.values(STREAMS)) {
    const { service, lines } = logged(
      new ProviderError(502, "provider_error", "gone", { kind: "unreachable" }),
    );
    await (await service(request())).text();
    await Promise.resolve();
    assertEquals(lines.map(({ status, error }) => [status, error]), [
      [502, "ProviderError: gone"],
    ]);
  }
});

Deno.test("a run that is refused before its first event is no failure in the log", async () => {
  for (const request of Object.values(STREAMS)) {
    const { service, lines } = logged(
      new ProviderError(404, "model_not_found", "no", { kind: "status", status: 404 }),
    );
    await (await service(request())).text();
    await Promise.resolve();
    assertEquals(lines.map(({ level, status, error }) => [level, status, error]), [
      ["info", 404, undefined],
    ]);
  }
});

import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { openEventStream, type Produce } from "../../../../agent/http/answer/event_stream.ts";
import { streamAnswer } from "../../../../agent/http/answer/reply.ts";
import { streamRun } from "../../../../agent/http/answer/run_request.ts";
import { createCompletionEncoder } from "../../../../agent/http/openai/completion.ts";
import { createLocalConnection } from "../../../../shared/http/connection.ts";
import { isAbort } from "../../../../shared/service/errors.ts";
import { asFields } from "../../../../shared/service/fields.ts";
import { createLogger } from "../../../../shared/service/log.ts";
import { ProviderError } from "../../../../shared/providers/provider.ts";
import { agentRequestOf, agentService } from "../../../fakes/agent_service.ts";
import { readChunks, readEvents } from "../../../fakes/events.ts";
import { hubOf } from "../../../fakes/openai_provider.ts";
import {
  completion,
  type ReceivedRequest,
  startProviderDouble,
} from "../../../fakes/provider_double.ts";
import { createScriptedProvider, never, type Step } from "../../../fakes/scripted_provider.ts";
import { until } from "../../../fakes/until.ts";

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

const { signal } = new AbortController();

Deno.test("a silent stream opens by itself and sends comments", async () => {
  const silent: Produce = ({ signal }) =>
    new Promise((resolve) => signal.addEventListener("abort", () => resolve()));
  const body = await openEventStream(silent, { signal, keepAliveMs: 5 });
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  assertEquals((await reader.read()).value, ": keep-alive\n\n");
  assertEquals((await reader.read()).value, ": keep-alive\n\n");
  await reader.cancel();
});

Deno.test("a failure before the first event rejects", async () => {
  await assertRejects(
    () => openEventStream(() => Promise.reject(new TypeError("no")), { signal }),
    TypeError,
    "no",
  );
});

Deno.test("events pushed together are sent in their order, in one piece", async () => {
  const body = await openEventStream(async ({ push }) => {
    await Promise.all(["a", "b", "c"].map((data) => push({ data })));
  }, { signal });
  const texts = await Array.fromAsync(body.pipeThrough(new TextDecoderStream()));
  assertEquals(texts, ["data: a\n\ndata: b\n\ndata: c\n\n"]);
});

Deno.test("an event is sent without waiting for another", async () => {
  const isRead = Promise.withResolvers<void>();
  const body = await openEventStream(async ({ push }) => {
    for (const data of ["a", "b"]) {
      await push({ data });
      await isRead.promise;
    }
  }, { signal });
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  assertEquals((await reader.read()).value, "data: a\n\n");
  isRead.resolve();
  assertEquals((await reader.read()).value, "data: b\n\n");
  assertEquals((await reader.read()).done, true);
});

Deno.test("a producer waits for a reader that reads nothing", async () => {
  const data = "x".repeat(1000);
  let pushed = 0;
  const body = await openEventStream(async ({ push }) => {
    for (;;) {
      await push({ data });
      pushed++;
    }
  }, { signal });
  await new Promise((resolve) => setTimeout(resolve, 20)); // it could push thousands
  assert(pushed < 20, `${pushed} events`);
  const reader = body.getReader();
  await reader.read();
  await until(() => pushed > 16);
  await reader.cancel();
});

Deno.test("a push that waits for its reader rejects when the reader leaves", async () => {
  const outcome = Promise.withResolvers<unknown>();
  const body = await openEventStream(async ({ push, signal }) => {
    try {
      for (;;) await push({ data: "x" });
    } catch (error) {
      outcome.resolve(error);
      assert(signal.aborted);
    }
  }, { signal });
  await body.cancel();
  assert(isAbort(await outcome.promise));
});

Deno.test("nothing is sent after the caller has left, even if a reader waits for it", async () => {
  const caller = new AbortController();
  const left = Promise.withResolvers<void>();
  const pushed = Promise.withResolvers<unknown>();
  const body = await openEventStream(async ({ push }) => {
    await push({ data: "first" });
    await left.promise;
    pushed.resolve(await push({ data: "second" }).catch((error) => error));
  }, { signal: caller.signal });
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  assertEquals((await reader.read()).value, "data: first\n\n");
  const next = reader.read();
  await new Promise((resolve) => setTimeout(resolve)); // the stream knows that it is read
  caller.abort();
  left.resolve();
  assert(isAbort(await pushed.promise));
  assertEquals((await next).done, true);
});

Deno.test("the producer can see that the stream has opened, also through a comment", async () => {
  const seen: boolean[] = [];
  const body = await openEventStream(async ({ isOpen }) => {
    seen.push(isOpen());
    await until(() => isOpen());
    seen.push(isOpen());
  }, { signal, keepAliveMs: 5 });
  await new Response(body).text();
  assertEquals(seen, [false, true]);
});

const OPTIONS = {
  signal,
  context: {
    requestId: "r1",
    url: new URL("http://127.0.0.1/"),
    params: {},
    fields: {},
    logAfter: () => {},
    responseHeaders: {},
    connection: createLocalConnection(),
  },
  keepAliveMs: 5,
};

const REPAIRS = {
  paired: 0,
  merged: 0,
  bridged: 0,
  opened: 0,
  filled: 0,
  dropped: 0,
  cut: 0,
  system: 0,
  unanswered: 0,
};

/** Fails without an event, long after a comment has opened the stream. */
async function failLate(): Promise<never> {
  await new Promise((resolve) => setTimeout(resolve, 50));
  throw new ProviderError(502, "provider_error", "gone", { kind: "unreachable" });
}

Deno.test("a run that fails after the first comment ends with the problem as an event", async () => {
  const response = await streamAnswer(
    { model: () => "a/b", repairs: REPAIRS, start: failLate },
    OPTIONS,
  );
  const events = await Array.fromAsync(readEvents(response));
  assertEquals(response.status, 200);
  assertEquals(events.map(({ event, data }) => [event, data.code]), [["error", "provider_error"]]);
});

Deno.test("a completion that fails after the first comment ends with an error chunk", async () => {
  const run = { model: () => "a/b", repairs: REPAIRS, start: failLate };
  const encoder = createCompletionEncoder({
    model: run.model,
    requestId: "r",
    includeUsage: false,
    showTools: false,
  });
  const chunks = await readChunks(await streamRun(run, encoder, OPTIONS));
  assertEquals(chunks.map(({ error }) => error.code), ["provider_error"]);
});

const headers = { "x-agent-events": "tools" };
const isStreamed = ({ body }: ReceivedRequest) => Boolean(asFields(body).stream);

Deno.test("tool events of an answer that comes whole make no stream of the provider's", async () => {
  const call = { name: "calculator", arguments: '{"expression":"2+2"}' };
  await using double = await startProviderDouble([
    completion({ toolCalls: [call] }),
    completion({ content: "4" }),
  ]);
  const { service } = agentService(hubOf(double));
  const body = { messages: [{ type: "human", content: "Hi" }] };
  const answer = await (await service(agentRequestOf(body, { headers }))).json();
  assertEquals([answer.content, answer.tool_events.length], ["4", 2]);
  assertEquals(double.requests.map(isStreamed), [false, false]);
});

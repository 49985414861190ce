import { assert, assertEquals, assertMatch } from "@std/assert";
import { createLogger } from "../../shared/log.ts";
import { ProviderError } from "../../shared/providers/provider.ts";
import { agentRequestOf, agentService } from "../fakes/agent_service.ts";
import { readEvents } from "../fakes/events.ts";
import { createScriptedProvider, never, type Step } from "../fakes/scripted_provider.ts";

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

Deno.test("a run is streamed as it goes: tokens, tool calls and results, message, account", async () => {
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

Deno.test("the streamed message is the body of the plain answer, but for its id", async () => {
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

Deno.test("reasoning is streamed apart from the answer", async () => {
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

Deno.test("who does not ask for a stream gets JSON", async () => {
  for (const accept of ["application/json", "*/*", "application/json, text/event-stream"]) {
    const { service } = agentService(createScriptedProvider({}));
    const response = await service(agentRequestOf(BODY, { headers: { accept } }));
    assertMatch(response.headers.get("content-type") ?? "", /^application\/json/);
    await response.body?.cancel();
  }
});

Deno.test("a bad request for a stream is a problem document, and costs no call", async () => {
  const provider = createScriptedProvider({});
  const response = await agentService(provider).service(agentRequestOf({}, STREAM));
  assertEquals([response.status, (await response.json()).code], [400, "invalid_request"]);
  assertEquals(provider.requests, []);
});

Deno.test("a run that fails before its first event says so by status and by event", async () => {
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

Deno.test("a failure of ours is opaque in the stream too", async () => {
  const response = await stream(SUM, new TypeError("secret of the inside"));
  const text = await response.text();
  assert(text.includes('"code":"internal"') && !text.includes("secret"), text);
});

Deno.test("a slow reader is waited for: nothing is read from the provider that nobody takes", async () => {
  let given = 0;
  const provider = createScriptedProvider({});
  provider.stream = async function* () {
    for (;; given++) yield { type: "text", text: "word " };
  };
  const response = await agentService(provider).service(agentRequestOf(BODY, STREAM));
  const reader = response.body!.getReader();
  for (let read = 0; read < 5; read++) await reader.read();
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert(given <= 8, `${given} tokens were taken from the provider for 5 that were read`);
  await reader.cancel();
});

Deno.test("a reader that leaves ends the run, also where it waits for the model or for a reader", async () => {
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
  for (const [, generate] of waits) {
    const left = Promise.withResolvers<void>();
    const provider = createScriptedProvider({});
    provider.stream = (_, { signal } = {}) => {
      signal?.addEventListener("abort", () => left.resolve());
      return generate(signal!);
    };
    const response = await agentService(provider).service(agentRequestOf(BODY, STREAM));
    const reader = response.body!.getReader();
    await reader.read();
    await reader.cancel();
    await left.promise;
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

Deno.test("a finished stream leaves a line in the log with what the run cost", async () => {
  const lines: string[] = [];
  const log = createLogger({ level: "info", format: "json", write: (line) => lines.push(line) });
  const { service } = agentService(createScriptedProvider({ usage: USAGE }), { log });
  const response = await service(agentRequestOf(BODY, STREAM));
  await response.text();
  const run = lines.map((line) => JSON.parse(line)).find(({ message }) => message === "run");
  assertEquals([run.request_id, run.input_tokens, run.model_calls], [
    response.headers.get("x-request-id"),
    10,
    1,
  ]);
});

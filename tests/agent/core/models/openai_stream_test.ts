import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { setTimeout } from "node:timers/promises";
import { startCallClock } from "../../../../shared/providers/call_clock.ts";
import { readStream } from "../../../../shared/providers/openai_answer.ts";
import { type ChatReply, ProviderError } from "../../../../shared/providers/provider.ts";
import { agentRequestOf, agentService } from "../../../fakes/agent_service.ts";
import {
  failure,
  hubOf,
  providerOf,
  REQUEST,
  streamed,
  WAYS,
} from "../../../fakes/openai_provider.ts";
import {
  type Answer,
  completion,
  completionBody,
  completionChunks,
  errorStatus,
  json,
  raw,
  sse,
  startProviderDouble,
} from "../../../fakes/provider_double.ts";

Deno.test("a stream yields its text as it comes, and the whole reply last", async () => {
  const { deltas, reply } = await streamed(completionChunks({ content: "Hello there, you." }));
  assertEquals(deltas, [
    { type: "text", text: "Hello" },
    { type: "text", text: " there," },
    { type: "text", text: " you." },
  ]);
  assertEquals(reply, {
    id: "chatcmpl-1",
    model: "acme/model-1",
    content: "Hello there, you.",
    refusal: null,
    toolCalls: [],
    finishReason: "stop",
    usage: {
      promptTokens: 5,
      completionTokens: 7,
      totalTokens: 12,
      promptDetails: null,
      completionDetails: null,
    },
    systemFingerprint: null,
    serviceTier: null,
    logprobs: null,
  });
});

Deno.test("text is yielded while the provider is still writing", async () => {
  const chunks = completionChunks({ content: "Hello" }).slice(0, 2);
  await using double = await startProviderDouble(sse(chunks, { end: "hang" }));
  const stream = providerOf(double).stream(REQUEST);
  for await (const delta of stream) {
    assertEquals(delta, { type: "text", text: "Hello" });
    break;
  }
  await double.aborted(); // a reader that stops closes the provider's connection
});

Deno.test("a provider that ignores stream_options costs only the usage", async () => {
  const { reply } = await streamed(completionChunks({ usage: null }));
  assertEquals([reply.content, reply.usage], ["Hello there.", null]);
});

Deno.test("of usage in several chunks the last counts", async () => {
  const { reply } = await streamed([
    { choices: [{ delta: { content: "Hi" } }], usage: { total_tokens: 1 } },
    { choices: [{ delta: {}, finish_reason: "stop" }], usage: { total_tokens: 2 } },
    { choices: [], usage: null },
  ]);
  assertEquals(reply.usage?.totalTokens, 2);
});

for (const field of ["reasoning_content", "reasoning"]) {
  Deno.test(`reasoning in ${field} is separated from text`, async () => {
    const { deltas, reply } = await streamed([
      { choices: [{ delta: { content: null, [field]: "Hm. " } }] },
      { choices: [{ delta: { content: "Yes.", [field]: null } }] },
      { choices: [{ delta: {}, finish_reason: "stop" }] },
    ]);
    assertEquals(deltas, [{ type: "reasoning", text: "Hm. " }, { type: "text", text: "Yes." }]);
    assertEquals(reply.content, "Yes.");
  });
}

const call = (index: number | undefined, id: string | null, name: string | null, args: string) => ({
  ...(index !== undefined && { index }),
  ...(id !== null && { id }),
  function: { ...(name !== null && { name }), arguments: args },
});
const FRAGMENTS: Record<string, ReturnType<typeof call>[]> = {
  "by index": [
    call(0, "aaaaaaaaa", "one", ""),
    call(0, null, null, '{"a"'),
    call(1, "bbbbbbbbb", "two", "{}"),
    call(0, null, null, ":1}"),
  ],
  "by index, the id and name in each": [
    call(0, "aaaaaaaaa", "one", '{"a"'),
    call(0, "aaaaaaaaa", "one", ":1}"),
    call(1, "bbbbbbbbb", "two", "{}"),
  ],
  "by index, with a new id in each": [
    call(0, "aaaaaaaaa", "one", '{"a"'),
    call(0, "ccccccccc", null, ":1}"),
    call(1, "bbbbbbbbb", "two", "{}"),
  ],
  "by id, without an index": [
    call(undefined, "aaaaaaaaa", "one", '{"a"'),
    call(undefined, "bbbbbbbbb", "two", "{}"),
    call(undefined, "aaaaaaaaa", "one", ":1}"),
  ],
  "with neither index nor id after the first": [
    call(undefined, "aaaaaaaaa", "one", '{"a"'),
    call(undefined, null, null, ":1}"),
    call(undefined, "bbbbbbbbb", "two", "{}"),
  ],
  "whole, all at index 0": [
    call(0, "aaaaaaaaa", "one", '{"a":1}'),
    call(0, "bbbbbbbbb", "two", "{}"),
  ],
};
for (const [how, fragments] of Object.entries(FRAGMENTS)) {
  Deno.test(`streamed tool calls in fragments are joined ${how}`, async () => {
    const { reply } = await streamed([
      ...fragments.map((piece) => ({ choices: [{ delta: { tool_calls: [piece] } }] })),
      { choices: [{ delta: {}, finish_reason: "tool_calls" }] },
    ]);
    assertEquals(reply.toolCalls, [
      { id: "aaaaaaaaa", name: "one", arguments: '{"a":1}' },
      { id: "bbbbbbbbb", name: "two", arguments: "{}" },
    ]);
  });
}

const ALL_AT_0: Record<string, ReturnType<typeof call>[]> = {
  "without ids": [
    call(0, "", "one", '{"a":1}'),
    call(0, "", "one", "{}"),
    call(0, null, "two", "{}"),
  ],
  "with the same id": ["one", "one", "two"].map((name, index) =>
    call(0, "same", name, index === 0 ? '{"a":1}' : "{}")
  ),
  "in pieces with their names": [
    call(0, null, "one", '{"a":'),
    call(0, null, "one", "1}"),
    call(0, null, "one", ""),
    call(0, null, "one", "{"),
    call(0, null, "one", "}"),
    call(0, null, "two", "{}"),
  ],
};
for (const [how, pieces] of Object.entries(ALL_AT_0)) {
  Deno.test(`streamed tool calls that are all at index 0, ${how}, stay apart`, async () => {
    const { reply, deltas } = await streamed([
      ...pieces.map((piece) => ({ choices: [{ delta: { tool_calls: [piece] } }] })),
      { choices: [{ delta: {}, finish_reason: "tool_calls" }] },
    ]);
    const made = reply.toolCalls.map(({ name, arguments: text }) => `${name} ${text}`);
    assertEquals(made, ['one {"a":1}', "one {}", "two {}"]);
    const indexes = deltas.map((delta) => delta.type === "call" ? delta.index : undefined);
    assertEquals(new Set(indexes), new Set([0, 1, 2]));
  });
}

Deno.test("streamed tool calls without any id get ids of their own", async () => {
  const { reply } = await streamed([
    { choices: [{ delta: { tool_calls: [call(undefined, null, "one", "{}")] } }] },
    { choices: [{ delta: { tool_calls: [call(undefined, null, "two", "{}")] } }] },
    { choices: [{ delta: {}, finish_reason: "tool_calls" }] },
  ]);
  assertEquals(reply.toolCalls.map(({ name }) => name), ["one", "two"]);
  assertEquals(new Set(reply.toolCalls.map(({ id }) => id)).size, 2);
  for (const { id } of reply.toolCalls) assertMatch(id, /^[a-z0-9]{9}$/);
});

Deno.test("a stream keeps refusal, log probabilities, fingerprint and tier", async () => {
  const { reply } = await streamed([
    {
      system_fingerprint: "fp_1",
      service_tier: "flex",
      choices: [{ delta: { refusal: "I can" }, logprobs: { content: [{ token: "a" }] } }],
    },
    { choices: [{ delta: { refusal: "not." }, logprobs: { content: [{ token: "b" }] } }] },
    { choices: [{ delta: {}, finish_reason: "stop", logprobs: null }] },
  ]);
  assertEquals(reply.refusal, "I cannot.");
  assertEquals(reply.logprobs, { content: [{ token: "a" }, { token: "b" }] });
  assertEquals([reply.systemFingerprint, reply.serviceTier], ["fp_1", "flex"]);
});

const HI = { choices: [{ delta: { content: "Hi" } }] };
const STOP = { choices: [{ delta: {}, finish_reason: "stop" }] };
const FRAMINGS: Record<string, unknown[]> = {
  "comments and other fields": [": wait\n\n", "event: x\nid: 1\nretry: 5\n", HI, STOP],
  "events without data": ["data:\n\n", HI, "data: \n\n", STOP],
  "carriage returns": [
    `data: ${JSON.stringify(HI)}\r\n\r`,
    `\ndata: ${JSON.stringify(STOP)}\r\n\r\n`,
  ],
  "no blank after the colon": [`data:${JSON.stringify(HI)}\n\n`, STOP],
  "events split anywhere": [...`data: ${JSON.stringify(HI)}\n\ndata: ${JSON.stringify(STOP)}\n\n`],
  "two lines of data": ['data: {"choices":\ndata: [{"delta":{"content":"Hi"}}]}\n\n', STOP],
  "no line end after the last event": [HI, `data: ${JSON.stringify(STOP)}`],
};
for (const [what, pieces] of Object.entries(FRAMINGS)) {
  Deno.test(`a stream is read with ${what}`, async () => {
    const { reply } = await streamed(pieces, "close");
    assertEquals([reply.content, reply.finishReason], ["Hi", "stop"]);
  });
}

Deno.test("a stream that says [DONE] without a finish reason is whole", async () => {
  const { reply } = await streamed([HI], "done");
  assertEquals([reply.content, reply.finishReason], ["Hi", null]);
});

Deno.test("a stream with a finish reason is whole without [DONE]", async () => {
  const { reply } = await streamed([HI, STOP], "close");
  assertEquals([reply.content, reply.finishReason], ["Hi", "stop"]);
});

Deno.test("a provider that does not stream is read all the same", async () => {
  await using double = await startProviderDouble(completion({ content: "All of it." }));
  const deltas = await Array.fromAsync(providerOf(double).stream(REQUEST));
  assertEquals(deltas[0], { type: "text", text: "All of it." });
  assertEquals(deltas.map(({ type }) => type), ["text", "reply"]);
});

Deno.test("the thoughts of a provider that does not stream are yielded too", async () => {
  const message = { role: "assistant", content: "4", reasoning: "2 and 2." };
  await using double = await startProviderDouble(
    json({ choices: [{ index: 0, message, finish_reason: "stop" }] }),
  );
  const deltas = await Array.fromAsync(providerOf(double).stream(REQUEST));
  assertEquals(deltas[0], { type: "reasoning", text: "2 and 2." });
  assertEquals(deltas.map(({ type }) => type), ["reasoning", "text", "reply"]);
});

Deno.test("a stream that sends a piece now and then, forever, ends at its total limit", async () => {
  const dripping: Answer = ({ signal }) => {
    async function* drip(): AsyncGenerator<Uint8Array> {
      const event = new TextEncoder().encode(`data: ${JSON.stringify(HI)}\n\n`);
      for (; !signal.aborted; await setTimeout(5, null, { signal }).catch(() => {})) yield event;
    }
    const headers = { "content-type": "text/event-stream" };
    return new Response(ReadableStream.from(drip()), { headers });
  };
  await using double = await startProviderDouble(dripping);
  const provider = providerOf(double, { timeoutMs: 30_000, streamTimeoutMs: 50 });
  const error = await assertRejects(() => WAYS.stream(provider), ProviderError);
  assertEquals([error.status, error.code], [504, "provider_timeout"]);
  await double.aborted();
});

Deno.test("more tool calls than any model makes are an unreadable answer, streamed or whole", async () => {
  const toolCalls = Array.from({ length: 10_001 }, (_, index) => ({
    id: `call-${index}`,
    name: "tool",
    arguments: "{}",
  }));
  const whole = completion({ toolCalls });
  const inChunks = sse(completionChunks({ toolCalls }));
  for (const [way, answer] of [["complete", whole], ["stream", inChunks]] as const) {
    const error = await failure(answer, (double) => WAYS[way](providerOf(double)));
    assertEquals(error.failure.kind, "unreadable");
  }
});

Deno.test("bytes that are not UTF-8 are replaced, and the reply is marked, streamed or whole", async () => {
  const latin1 = (text: string) => Uint8Array.from([...text].map((part) => part.charCodeAt(0)));
  const whole = raw(latin1(JSON.stringify(completionBody({ content: "grün" }))), {
    headers: { "content-type": "application/json" },
  });
  const events = completionChunks({ content: "grün" }).map((chunk) =>
    `data: ${JSON.stringify(chunk)}\n\n`
  );
  const inChunks = raw(latin1(events.join("")), {
    headers: { "content-type": "text/event-stream" },
  });
  for (const answer of [whole, inChunks]) {
    await using double = await startProviderDouble(answer);
    const last = await Array.fromAsync(providerOf(double).stream(REQUEST));
    const { reply } = last.at(-1) as { reply: ChatReply };
    assertEquals([reply.content, reply.encoding], ["gr\uFFFDn", "not utf-8"]);
  }
  await using double = await startProviderDouble([whole, completion()]);
  const provider = providerOf(double);
  assertEquals((await provider.complete(REQUEST)).encoding, "not utf-8");
  assertEquals("encoding" in await provider.complete(REQUEST), false);
});

const BROKEN_STREAMS: Record<string, [answer: Answer, kind: string]> = {
  "that ends early": [sse([HI], { end: "close" }), "interrupted"],
  "that ends inside an event": [sse([HI, 'data: {"choi'], { end: "close" }), "interrupted"],
  "whose connection is cut": [sse([HI], { end: "cut" }), "interrupted"],
  "that reports an error": [sse([HI, { error: { message: "raw words" } }]), "status"],
  "that is not JSON": [sse([HI, "data: nonsense\n\n"]), "unreadable"],
  "without an event": [sse([], { end: "close" }), "interrupted"],
};
for (const [what, [answer, kind]] of Object.entries(BROKEN_STREAMS)) {
  Deno.test(`a stream ${what} is an error, not a short reply`, async () => {
    const error = await failure(answer, (double) => WAYS.stream(providerOf(double)));
    assertEquals([error.status, error.code, error.failure.kind], [502, "provider_error", kind]);
  });
}

for (const empty of ["", "null"]) {
  Deno.test(`a finish reason of ${JSON.stringify(empty)} in every chunk does not end a reply`, async () => {
    const chunk = (content: string) => choiceOf(0, content, empty);
    for (const end of ["close", "cut"] as const) {
      const half = sse([chunk("Hel")], { end });
      const error = await failure(half, (double) => WAYS.stream(providerOf(double)));
      assertEquals(error.failure.kind, "interrupted");
    }
    const { reply } = await streamed([chunk("Hel"), chunk("lo"), chunk("")], "done");
    assertEquals([reply.content, reply.finishReason], ["Hello", null]);
    const whole = json({ choices: [{ message: { content: "Hello" }, finish_reason: empty }] });
    await using double = await startProviderDouble(whole);
    assertEquals((await providerOf(double).complete(REQUEST)).finishReason, null);
  });
}

const SECRET = { choices: [{ delta: { content: "a private matter" } }] };
const CUT_OFF: Record<string, Answer> = {
  "between events": sse([SECRET], { end: "close" }),
  "within an event": sse([SECRET, JSON.stringify(SECRET).slice(0, -9)].map(toEvent), {
    end: "close",
  }),
};
for (const [where, answer] of Object.entries(CUT_OFF)) {
  Deno.test(`a stream that was closed ${where} is called that, and its text is not quoted`, async () => {
    const error = await failure(answer, (double) => WAYS.stream(providerOf(double)));
    assertEquals(
      error.message,
      'cannot get a reply from hub for model "acme/model-1": ' +
        "the connection was closed before the answer was complete",
    );
  });
}

/** A text goes out as the start of an event that never ends. */
function toEvent(data: unknown): string {
  return typeof data === "string" ? `data: ${data}` : `data: ${JSON.stringify(data)}\n\n`;
}

Deno.test("a stream that was closed before its first text is asked for again", async () => {
  const role = { choices: [{ delta: { role: "assistant", content: "" } }] };
  const whole = sse(completionChunks());
  await using double = await startProviderDouble([
    sse([], { end: "close" }),
    sse([role], { end: "close" }),
    whole,
  ]);
  await WAYS.stream(providerOf(double, { retries: 2 }));
  assertEquals(double.requests.length, 3);
  await using begun = await startProviderDouble([sse([HI], { end: "close" }), whole]);
  await assertRejects(() => WAYS.stream(providerOf(begun, { retries: 2 })), ProviderError);
  assertEquals(begun.requests.length, 1);
});

const QUOTING: Record<string, Answer> = {
  "a broken event": sse([
    HI,
    'data: {"choices":[{"delta":{"content":"a private matter\\x"}}]}\n\n',
  ]),
  "half a completion": raw('{"choices":[{"message":{"content":"a private matter', {
    headers: { "content-type": "application/json" },
  }),
  "another kind of answer": json({ type: "message", content: [{ text: "a private matter" }] }),
};
for (const [what, answer] of Object.entries(QUOTING)) {
  Deno.test(`the text of a model in ${what} is not quoted by the error`, async () => {
    const error = await failure(answer, (double) => WAYS.stream(providerOf(double)));
    assertEquals(error.failure.kind, "unreadable");
    assertMatch(error.message, /\(status 200, .*, not shown: it may quote the conversation\)$/);
  });
}

Deno.test("the error shows what a server of another kind says instead of a stream", async () => {
  const plain = raw("Welcome to the wiki", { headers: { "content-type": "text/plain" } });
  const error = await failure(plain, (double) => WAYS.stream(providerOf(double)));
  assertMatch(error.message, /\(status 200, text\/plain, begins with "Welcome to the wiki"\)$/);
  const half = raw(JSON.stringify(completionBody()).slice(0, -1), {
    headers: { "content-type": "text/plain" },
  });
  const hidden = await failure(half, (double) => WAYS.stream(providerOf(double)));
  assertMatch(hidden.message, /\(status 200, text\/plain, not shown: .*\)$/);
});

const choiceOf = (index: number, content: string, finish_reason: string | null = null) => ({
  choices: [{ index, delta: { content }, finish_reason }],
});
const TWO_CHOICES: Record<string, [chunks: unknown[], isWhole: boolean]> = {
  "with both finished": [[choiceOf(1, "B", "stop"), choiceOf(0, "A", "stop")], true],
  "with the first one cut off": [[choiceOf(0, "A"), choiceOf(1, "B", "stop")], false],
  "with the second one cut off": [[choiceOf(1, "B"), choiceOf(0, "A", "stop")], false],
  "in one chunk each": [
    [{ choices: [0, 1].flatMap((index) => choiceOf(index, "A", "stop").choices) }],
    true,
  ],
};
for (const [how, [chunks, isWhole]] of Object.entries(TWO_CHOICES)) {
  Deno.test(`a stream of two choices ${how} is ${isWhole ? "whole" : "an error"} without [DONE]`, async () => {
    await using double = await startProviderDouble(sse(chunks, { end: "close" }));
    const deltas = Array.fromAsync(providerOf(double).stream(REQUEST));
    if (isWhole) assertEquals((await deltas).at(-1)?.type, "reply");
    else {
      const error = await assertRejects(() => deltas, ProviderError);
      assertEquals(error.failure, { kind: "interrupted" });
    }
  });
}

Deno.test("of several choices the first one is the reply, and the others are not mixed with it", async () => {
  const chunks = [choiceOf(0, "A"), choiceOf(1, "B", "length"), choiceOf(0, "a", "stop")];
  const { deltas, reply } = await streamed(chunks);
  assertEquals([reply.content, reply.finishReason, deltas.length], ["Aa", "stop", 2]);
});

Deno.test("a choice that is not counted from 0 is a reply as well", async () => {
  const { reply } = await streamed([choiceOf(1, "A"), choiceOf(1, "", "stop")], "close");
  assertEquals([reply.content, reply.finishReason], ["A", "stop"]);
});

for (const end of ["cut", "hang"] as const) {
  Deno.test(`a stream with a finish reason is whole if its connection ends with a ${end}`, async () => {
    await using double = await startProviderDouble(sse([HI, STOP], { end }));
    const provider = providerOf(double, { timeoutMs: end === "hang" ? 200 : 30_000 });
    const last = (await Array.fromAsync(provider.stream(REQUEST))).at(-1);
    assert(last?.type === "reply");
    assertEquals([last.reply.content, last.reply.finishReason], ["Hi", "stop"]);
  });
}

Deno.test("whoever leaves after the finish reason has left", async () => {
  await using double = await startProviderDouble(sse([STOP, HI], { end: "hang" }));
  const leaving = new AbortController();
  const stream = providerOf(double).stream(REQUEST, { signal: leaving.signal });
  const error = await assertRejects(async () => {
    for await (const { type } of stream) if (type === "text") leaving.abort();
  });
  assert(error instanceof Error && error.name === "AbortError");
});

Deno.test("once every choice has ended, the rest of the stream has 5 s to come", async () => {
  const limits: (number | undefined)[] = [];
  const clock = startCallClock(60_000);
  const noting = { ...clock, restart: (maxMs?: number) => void limits.push(maxMs) };
  const body = [HI, HI, STOP, { choices: [], usage: null }].map(toEvent).join("");
  const call = { model: "a/b", clock: noting };
  const deltas = await Array.fromAsync(readStream(new Response(body), call));
  clock.stop();
  assertEquals(limits, [undefined, undefined, 5_000, 5_000]);
  assertEquals(deltas.at(-1)?.type, "reply");
});

/** Errors of Mistral and of older versions of Azure. */
const REFUSALS: Record<string, Answer> = {
  Mistral: json({
    object: "error",
    message: {
      detail: [{
        type: "extra_forbidden",
        loc: ["body", "stream_options", "include_usage"],
        msg: "Extra inputs are not permitted",
        input: true,
      }],
    },
    type: "invalid_request_error",
  }, { status: 422 }),
  Azure: errorStatus(400, { message: "Unrecognized request argument supplied: stream_options" }),
};

const strict = (refusal: Answer): Answer => (request) =>
  (request.body.stream_options ? refusal : sse(completionChunks()))(request);

const asksForUsage = ({ body }: { body: Record<string, unknown> }) => "stream_options" in body;

for (const [name, refusal] of Object.entries(REFUSALS)) {
  Deno.test(`a provider that refuses stream_options as ${name} does is asked without them from then on`, async () => {
    await using double = await startProviderDouble(strict(refusal));
    const provider = hubOf(double);
    for (let call = 0; call < 2; call++) await WAYS.stream(provider);
    assertEquals(double.requests.map(asksForUsage), [true, false, false]);
    await Array.fromAsync(provider.stream({ ...REQUEST, model: "acme/other" }));
    assertEquals(double.requests.map(asksForUsage).slice(3), [true, false]);
  });
}

Deno.test("such a provider streams on every route", async () => {
  await using double = await startProviderDouble(strict(REFUSALS.Mistral!));
  const headers = { accept: "text/event-stream" };
  const bodies = {
    "/": { prompt: "Hi" },
    "/v1/chat/completions": {
      model: "a/b",
      stream: true,
      messages: [{ role: "user", content: "Hi" }],
    },
    "/v1/responses": { model: "a/b", stream: true, input: "Hi" },
  };
  for (const [path, body] of Object.entries(bodies)) {
    const { service } = agentService(hubOf(double));
    const request = agentRequestOf(body, { headers });
    const response = await service(new Request(new URL(path, request.url), request));
    assertEquals(response.status, 200);
    assertEquals((await response.text()).includes("there."), true, path);
  }
});

Deno.test("a refusal for another reason is reported, after one call", async () => {
  const error = await failure(errorStatus(400), async (double) => {
    try {
      return await WAYS.stream(hubOf(double));
    } finally {
      assertEquals(double.requests.length, 1);
    }
  });
  assertEquals([error.status, error.code], [400, "provider_refused"]);
});

const EVENTS = { headers: { "content-type": "text/event-stream" } };

Deno.test("a reply that comes in events is read, although none were asked for", async () => {
  await using double = await startProviderDouble(sse(completionChunks({ content: "Hello." })));
  const { content, finishReason, usage } = await providerOf(double).complete(REQUEST);
  assertEquals([content, finishReason, usage?.totalTokens], ["Hello.", "stop", 12]);
});

Deno.test("such a reply is whole at its end, although the connection stays open", async () => {
  const answer = sse(completionChunks({ content: "Hello." }), { end: "hang" });
  await using double = await startProviderDouble(answer);
  assertEquals((await providerOf(double).complete(REQUEST)).content, "Hello.");
});

Deno.test("a whole reply under the name of events is read", async () => {
  const body = JSON.stringify(completionBody({ content: "Hello." }));
  await using double = await startProviderDouble(raw(body, EVENTS));
  assertEquals((await providerOf(double).complete(REQUEST)).content, "Hello.");
});

Deno.test("an error in such events, and their early end, are errors of the call", async () => {
  const [first] = completionChunks();
  const busy = { error: { message: "busy", code: 503 } };
  const cases = [
    [sse([busy]), { kind: "status", status: 503 }],
    [sse([first], { end: "close" }), { kind: "interrupted" }],
    [raw("", EVENTS), { kind: "interrupted" }],
  ] as const;
  for (const [answer, expected] of cases) {
    const error = await failure(answer, (double) => WAYS.complete(providerOf(double)));
    assertEquals(error.failure, expected);
  }
});

Deno.test("bytes that are not in the encoding that they should be in are asked for once", async () => {
  const headers = { "content-type": "application/json", "content-encoding": "zstd" };
  for (const way of ["complete", "stream"] as const) {
    await using double = await startProviderDouble(raw("{}", { headers }));
    const failed = await WAYS[way](hubOf(double)).catch((error) => error.failure);
    assertEquals([failed, double.requests.length], [{ kind: "unreadable" }, 1]);
  }
});

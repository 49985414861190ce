import { setTimeout } from "node:timers/promises";
import { assertEquals, assertMatch, assertRejects } from "@std/assert";
import { type ChatReply, ProviderError } from "../../../shared/providers/provider.ts";
import { failure, providerOf, REQUEST, streamed, WAYS } from "../../fakes/openai_provider.ts";
import {
  type Answer,
  completion,
  completionBody,
  completionChunks,
  json,
  raw,
  sse,
  startProviderDouble,
} from "../../fakes/provider_double.ts";

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
  await double.aborted(); // and whoever stops reading closes the provider's connection
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

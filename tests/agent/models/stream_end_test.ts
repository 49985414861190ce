import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { readStream } from "../../../shared/providers/openai_stream.ts";
import { startCallClock } from "../../../shared/providers/call_clock.ts";
import { ProviderError } from "../../../shared/providers/provider.ts";
import { failure, providerOf, REQUEST, streamed, WAYS } from "../../fakes/openai_provider.ts";
import {
  type Answer,
  completionBody,
  completionChunks,
  json,
  raw,
  sse,
  startProviderDouble,
} from "../../fakes/provider_double.ts";

const HI = { choices: [{ delta: { content: "Hi" } }] };
const STOP = { choices: [{ delta: {}, finish_reason: "stop" }] };

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
  "of which one never came": [[choiceOf(0, "A", "stop")], false],
  "in one chunk each": [
    [{ choices: [0, 1].flatMap((index) => choiceOf(index, "A", "stop").choices) }],
    true,
  ],
};
for (const [how, [chunks, isWhole]] of Object.entries(TWO_CHOICES)) {
  Deno.test(`a stream of two choices ${how} is ${isWhole ? "whole" : "an error"} without [DONE]`, async () => {
    await using double = await startProviderDouble(sse(chunks, { end: "close" }));
    const request = { ...REQUEST, rawMessages: [], extra: { n: 2 } };
    const deltas = Array.fromAsync(providerOf(double).stream(request));
    if (isWhole) assertEquals((await deltas).at(-1)?.type, "reply");
    else {
      const error = await assertRejects(() => deltas, ProviderError);
      assertEquals(error.failure, { kind: "interrupted" });
    }
  });
}

Deno.test("a provider that ignores n is believed when it says [DONE]", async () => {
  await using double = await startProviderDouble(sse([choiceOf(0, "A", "stop")]));
  const request = { ...REQUEST, rawMessages: [], extra: { n: 2 } };
  const deltas = await Array.fromAsync(providerOf(double).stream(request));
  assertEquals(deltas.at(-1)?.type, "reply");
});

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
  const call = { model: "a/b", clock: noting, passesThrough: false, choices: 1 };
  const deltas = await Array.fromAsync(readStream(new Response(body), call));
  clock.stop();
  assertEquals(limits, [undefined, undefined, 5_000, 5_000]);
  assertEquals(deltas.at(-1)?.type, "reply");
});

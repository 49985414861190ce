import { assertEquals, assertStringIncludes } from "@std/assert";
import { agentRequestOf, agentService } from "../../../fakes/agent_service.ts";
import { readEvents } from "../../../fakes/events.ts";
import { failure, providerOf, REQUEST, WAYS } from "../../../fakes/openai_provider.ts";
import {
  type Answer,
  completion,
  completionBody,
  completionChunks,
  json,
  partial,
  raw,
  sse,
  startProviderDouble,
} from "../../../fakes/provider_double.ts";

const WHOLE = JSON.stringify(completionBody({ content: "Hello" }));
const EVENTS = completionChunks({ content: "Hello" })
  .map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`);

/** Content types that gateways send instead of the right one. */
const TYPES = ["", "text/plain;charset=UTF-8", "application/octet-stream"];

Deno.test("JSON with Flask's text/html is a completion, also instead of a stream", async () => {
  const answer = raw(WHOLE, { headers: { "content-type": "text/html; charset=utf-8" } });
  await using double = await startProviderDouble(answer);
  assertEquals((await providerOf(double).complete(REQUEST)).content, "Hello");
  const deltas = await Array.fromAsync(providerOf(double).stream(REQUEST));
  assertEquals(deltas.map((delta) => delta.type), ["text", "reply"]);
});

for (const type of TYPES) {
  const headers: Record<string, string> = type ? { "content-type": type } : {};
  const named = type || "no content type";

  Deno.test(`a completion with ${named} is read`, async () => {
    await using double = await startProviderDouble(raw(encode(WHOLE), { headers }));
    assertEquals((await providerOf(double).complete(REQUEST)).content, "Hello");
  });

  Deno.test(`a whole completion with ${named} instead of a stream is read`, async () => {
    for (const pieces of [[WHOLE], [" ", "\n", WHOLE.slice(0, 1), WHOLE.slice(1)]]) {
      await using double = await startProviderDouble(partial(pieces, { end: "close", type }));
      const deltas = await Array.fromAsync(providerOf(double).stream(REQUEST));
      assertEquals(deltas.map((delta) => delta.type), ["text", "reply"]);
    }
  });

  Deno.test(`a stream with ${named} is read as it comes`, async () => {
    const answer = partial([": hello\n\n", ...EVENTS], { end: "hang", type });
    await using double = await startProviderDouble(answer);
    const deltas = providerOf(double).stream(REQUEST)[Symbol.asyncIterator]();
    assertEquals((await deltas.next()).value, { type: "text", text: "Hello" });
    await deltas.return?.();
    await double.aborted();
  });
}

Deno.test("an error with status 200 and no content type is that error", async () => {
  const body = JSON.stringify({ error: { code: 400, message: "too long" } });
  await using double = await startProviderDouble(raw(encode(body)));
  const provider = providerOf(double);
  for (const ask of [() => provider.complete(REQUEST), () => drain(provider.stream(REQUEST))]) {
    const { status, message } = await ask().then(() => new Error("none"), (error) => error);
    assertEquals([status, message.includes("too long")], [400, true]);
  }
});

/** Bytes: a text would get a content type. */
function encode(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
}

async function drain(deltas: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of deltas);
}

/** Errors in answers with status 200, as OpenRouter sends them. */

const BUSY = { message: "Rate limited upstream", code: 429, metadata: {} };
const SOON = { headers: { "retry-after-ms": "1" } };
const CHOICE = { index: 0, delta: { content: "" }, finish_reason: "error" };
const PARTLY = { index: 0, message: { role: "assistant", content: "Hel" }, error: BUSY };
const HELLO = { index: 0, delta: { content: "Hel" }, finish_reason: null };

/** The events of a stream that asks for a short wait before the next attempt. */
function soon(answer: Answer): Answer {
  return async (request) => {
    const { body, headers } = await answer(request);
    return new Response(body, { headers: { ...Object.fromEntries(headers), ...SOON.headers } });
  };
}

const BUSY_ANSWERS: Record<string, [way: "complete" | "stream", answer: Answer]> = {
  "as the whole answer": ["complete", json({ error: BUSY }, SOON)],
  "of the choice": ["complete", json({ choices: [PARTLY] }, SOON)],
  "as the whole answer to a stream": ["stream", json({ error: BUSY }, SOON)],
  "as the first event": ["stream", soon(sse([{ error: BUSY }], { end: "close" }))],
  "as the first event, with a choice": [
    "stream",
    soon(sse([{ id: "x", error: BUSY, choices: [CHOICE] }])),
  ],
  "after an event that shows nothing": [
    "stream",
    soon(sse([{ choices: [{ index: 0, delta: { role: "assistant" } }] }, { error: BUSY }])),
  ],
};
for (const [how, [way, answer]] of Object.entries(BUSY_ANSWERS)) {
  Deno.test(`an error with status 200 ${how} is rate_limited, with the provider's words`, async () => {
    const error = await failure(answer, (double) => WAYS[way](providerOf(double)));
    assertEquals([error.status, error.code], [429, "rate_limited"]);
    assertEquals(error.failure, { kind: "status", status: 429 });
    assertEquals(error.provider?.message, BUSY.message);
    assertEquals(error.provider?.code, "429");
  });

  Deno.test(`an error with status 200 ${how} is worth the retries`, async () => {
    const last = way === "stream" ? sse(completionChunks()) : completion();
    await using double = await startProviderDouble([answer, answer, last]);
    await WAYS[way](providerOf(double, { retries: 2 }));
    assertEquals(double.requests.length, 3);
  });

  Deno.test(`after an error with status 200 ${how} the fallback answers`, async () => {
    const last = way === "stream" ? sse(completionChunks()) : completion();
    await using double = await startProviderDouble([answer, last]);
    const { service } = agentService(providerOf(double), {
      environment: { HUB_FALLBACK: "a/second" },
    });
    const accept = way === "stream" ? "text/event-stream" : "application/json";
    const response = await service(agentRequestOf({ prompt: "Hi" }, { headers: { accept } }));
    await response.body?.cancel();
    assertEquals([response.status, response.headers.get("x-agent-model")], [200, "a/second"]);
  });
}

const STATUSES: [error: unknown, status: number, code: string][] = [
  [{ message: "no", code: 503 }, 502, "provider_error"],
  [{ message: "no", code: "context_length_exceeded" }, 400, "provider_refused"],
  [{ message: "no", type: "authentication_error" }, 502, "provider_auth"],
  [{ message: "no", code: "402" }, 402, "provider_refused"],
  ["no", 502, "provider_error"],
];
for (const [error, status, code] of STATUSES) {
  Deno.test(`with status 200, ${JSON.stringify(error)} is ${code}`, async () => {
    for (
      const [way, answer] of [["complete", json({ error })], ["stream", sse([{ error }])]] as const
    ) {
      const failed = await failure(answer, (double) => WAYS[way](providerOf(double)));
      assertEquals([failed.status, failed.code], [status, code]);
    }
  });
}

Deno.test("a list of models that is an error has its words", async () => {
  const error = await failure(
    json({ error: BUSY }),
    (double) => WAYS.listModels(providerOf(double)),
  );
  assertEquals(error.code, "rate_limited");
  assertStringIncludes(error.message, BUSY.message);
});

Deno.test("an error after the first text is not retried, and is the stream's last event", async () => {
  await using double = await startProviderDouble(sse([{ choices: [HELLO] }, { error: BUSY }]));
  const { service } = agentService(providerOf(double, { retries: 2 }), {
    environment: { HUB_FALLBACK: "a/second" },
  });
  const headers = { accept: "text/event-stream" };
  const response = await service(agentRequestOf({ prompt: "Hi" }, { headers }));
  const events = await Array.fromAsync(readEvents(response));
  assertEquals(events.map(({ event }) => event), ["token", "error"]);
  assertEquals([events[1]?.data.code, double.requests.length], ["rate_limited", 1]);
});

Deno.test("a connection that breaks before the first text is tried again", async () => {
  const answers = [sse([], { end: "cut" }), sse(completionChunks())];
  await using double = await startProviderDouble(answers);
  await WAYS.stream(providerOf(double, { retries: 1 }));
  assertEquals(double.requests.length, 2);
});

const FULL = "The KV cache is full";
const OTHER_FORMS: Record<string, [text: string, status: number]> = {
  "an event named error": [`event: error\ndata: {"message":"${FULL}","code":503}\n\n`, 503],
  "an event named error, as text": [`event: error\ndata: ${FULL}\n\n`, 500],
  "an error field of llama.cpp": [`error: {"code":500,"message":"${FULL}"}\n\n`, 500],
  "an object named error": [
    `data: {"object":"error","message":"${FULL}","code":400}\n\ndata: [DONE]\n\n`,
    400,
  ],
  "FastAPI's detail": [`data: {"detail":"${FULL}"}\n\n`, 500],
  "a list with an error": [`data: [{"error":{"code":429,"message":"${FULL}"}}]\n\n`, 429],
  "JSON that is no event": [`{"error":{"code":429,"message":"${FULL}"}}`, 429],
};
for (const [form, [text, status]] of Object.entries(OTHER_FORMS)) {
  Deno.test(`an error in a stream as ${form} is reported with its words`, async () => {
    const answer = partial([text], { end: "close", type: "text/event-stream" });
    const error = await failure(answer, (double) => WAYS.stream(providerOf(double)));
    assertEquals(error.failure, { kind: "status", status });
    assertEquals(error.provider?.message, FULL);
  });
}

Deno.test("an answer of status 200 that is an error by itself has its status and words", async () => {
  const body = { object: "error", message: FULL, type: "BadRequestError", code: 400 };
  const error = await failure(json(body), (double) => WAYS.complete(providerOf(double)));
  assertEquals([error.status, error.provider?.message], [400, FULL]);
});

import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import OpenAI, { APIError } from "openai";
import { readEvents } from "../fakes/events.ts";
import { agentRequestOf, agentService } from "../fakes/agent_service.ts";
import { providerOf } from "../fakes/openai_provider.ts";
import {
  type Answer,
  completion,
  errorStatus,
  json,
  startProviderDouble,
} from "../fakes/provider_double.ts";

const TOO_LONG = {
  message: "This model's maximum context length is 8192 tokens.",
  type: "invalid_request_error",
  code: "context_length_exceeded",
  param: "messages",
};
const FILTERED = {
  message: "The prompt triggered the content filter.",
  type: null,
  code: "content_filter",
  param: "prompt",
};
const BODY = { messages: [{ type: "human", content: "Hi" }] };
const REFUSED: [status: number, words: typeof TOO_LONG | typeof FILTERED][] = [
  [400, TOO_LONG],
  [402, { ...TOO_LONG, code: "insufficient_credits" }],
  [403, FILTERED],
  [413, TOO_LONG],
  [422, TOO_LONG],
  [451, FILTERED],
];

/** What the openai package throws, with its own retries, and how often the provider was asked. */
async function ask(answer: Answer, { stream, headers = {} }: {
  stream: boolean;
  headers?: Record<string, string>;
}) {
  await using double = await startProviderDouble(answer);
  const { service } = agentService(providerOf(double, { retries: 2 }));
  const client = new OpenAI({
    baseURL: "http://127.0.0.1:8000/v1",
    apiKey: "any",
    maxRetries: 2,
    defaultHeaders: headers,
    fetch: async (input, init) => await service(new Request(input, init)),
  });
  const messages = [{ role: "user" as const, content: "Hi" }];
  const error = await assertRejects(
    async () => await client.chat.completions.create({ model: "acme/small", messages, stream }),
    APIError,
  );
  return { error, calls: double.requests.length };
}

for (const [status, words] of REFUSED) {
  Deno.test(`a provider's ${status} reaches OpenAI's client with its fields, after one call`, async () => {
    for (const stream of [false, true]) {
      for (const headers of [{}, { "x-agent-tools": "off" }]) {
        const { error, calls } = await ask(json({ error: words }, { status }), { stream, headers });
        const { message, code, param, type } = error;
        assertEquals([error.status, calls], [status, 1]);
        assertStringIncludes(message, words.message);
        assertEquals({ code, param }, { code: words.code, param: words.param });
        assertEquals(
          type,
          words.type ?? (status === 403 ? "permission_error" : "invalid_request_error"),
        );
      }
    }
  });

  Deno.test(`a provider's ${status} is a problem with its words on POST /, streamed or not`, async () => {
    await using double = await startProviderDouble(json({ error: words }, { status }));
    const { service } = agentService(providerOf(double, { retries: 2 }));
    const response = await service(agentRequestOf(BODY));
    const problem = await response.json();
    assertEquals([response.status, problem.status, problem.code], [
      status,
      status,
      "provider_refused",
    ]);
    assertEquals(problem.provider, words);
    assertStringIncludes(problem.detail, words.message);

    const headers = { accept: "text/event-stream" };
    const streamed = await service(agentRequestOf(BODY, { headers }));
    const [failed] = await Array.fromAsync(readEvents(streamed));
    assertEquals([streamed.status, failed?.event], [status, "error"]);
    assertEquals(failed?.data.provider, words);
    assertEquals(double.requests.length, 2);
  });
}

const SOON = { headers: { "retry-after-ms": "1" } };
for (const status of [429, 500, 503]) {
  Deno.test(`a ${status} costs the provider's retries, not those of the client times them`, async () => {
    for (const stream of [false, true]) {
      const { error, calls } = await ask(errorStatus(status, SOON), { stream });
      assertEquals([calls, error.headers?.get("x-should-retry")], [3, "false"]);
    }
  });
}

Deno.test("an answer that cannot be read is asked for once, by the service and by its client", async () => {
  for (const stream of [false, true]) {
    const { error, calls } = await ask(json({ id: "1", choices: "none" }), { stream });
    assertEquals([calls, error.status, error.headers?.get("x-should-retry")], [1, 502, "false"]);
  }
});

Deno.test("a 429 about a quota that is used up is not taken for one that a wait ends", async () => {
  const words = { message: "You exceeded your quota.", code: "insufficient_quota" };
  for (const stream of [false, true]) {
    const { error } = await ask(json({ error: words }, { status: 429, ...SOON }), { stream });
    assertEquals([error.status, error.code, error.type], [429, words.code, words.code]);
    assertStringIncludes(error.message, words.message);
  }
});

Deno.test("a provider's 401 is about the configured key: clients do not try again", async () => {
  for (const stream of [false, true]) {
    const { error, calls } = await ask(errorStatus(401), { stream });
    assertEquals([error.status, error.code, calls], [502, "provider_auth", 1]);
  }
});

Deno.test("an empty answer, which was asked for twice, is not asked for again by clients", async () => {
  const { error, calls } = await ask(completion({ content: "" }), { stream: false });
  assertEquals([error.code, calls], ["empty_reply", 2]);
});

Deno.test("a stream that fails at once has the headers of its error", async () => {
  await using double = await startProviderDouble(
    errorStatus(429, { headers: { "retry-after": "7" } }),
  );
  const { service } = agentService(providerOf(double));
  const headers = { accept: "text/event-stream" };
  const response = await service(agentRequestOf(BODY, { headers }));
  assertEquals([response.status, response.headers.get("retry-after")], [429, "7"]);
  await response.body?.cancel();
});

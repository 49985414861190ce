import {
  assert,
  assertEquals,
  assertMatch,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import { z } from "zod";
import { createFixedTools, type Tool } from "../../../../agent/core/tools/tool.ts";
import { isAbort } from "../../../../shared/service/errors.ts";
import { ProviderError } from "../../../../shared/providers/provider.ts";
import { agentRequestOf, agentService } from "../../../fakes/agent_service.ts";
import { HELD_MS, holdTimeouts } from "../../../fakes/held_timeouts.ts";
import { hubOf, providerOf, REQUEST, streamed, WAYS } from "../../../fakes/openai_provider.ts";
import { openAIRoutes } from "../../../fakes/openai_routes.ts";
import {
  type Answer,
  completion,
  completionBody,
  completionChunks,
  type CompletionFields,
  errorStatus,
  hang,
  json,
  partial,
  type ProviderDouble,
  raw,
  type ReceivedRequest,
  sse,
  startProviderDouble,
} from "../../../fakes/provider_double.ts";
import { until } from "../../../fakes/until.ts";

const HI = { choices: [{ delta: { content: "Hi" } }] };

const SOON = { headers: { "retry-after-ms": "1" } };
for (const status of [408, 409, 429, 500, 502, 503, 504]) {
  Deno.test(`a ${status} is tried again`, async () => {
    const again = errorStatus(status, SOON);
    await using double = await startProviderDouble([again, again, completion({ content: "Yes." })]);
    const reply = await providerOf(double, { retries: 2 }).complete(REQUEST);
    assertEquals([reply.content, double.requests.length], ["Yes.", 3]);
  });
}

for (const status of [400, 401, 403, 404, 422]) {
  Deno.test(`a ${status} is not tried again`, async () => {
    await using double = await startProviderDouble(errorStatus(status, SOON));
    await assertRejects(() => providerOf(double, { retries: 2 }).complete(REQUEST), ProviderError);
    assertEquals(double.requests.length, 1);
  });
}

Deno.test("a stream is opened again, and then read", async () => {
  await using double = await startProviderDouble([errorStatus(503, SOON), sse(completionChunks())]);
  const deltas = await Array.fromAsync(providerOf(double, { retries: 1 }).stream(REQUEST));
  assertEquals([deltas.at(-1)?.type, double.requests.length], ["reply", 2]);
});

Deno.test("a stream that has begun is not tried again", async () => {
  await using double = await startProviderDouble(sse([HI], { end: "cut" }));
  const stream = providerOf(double, { retries: 2 }).stream(REQUEST);
  await assertRejects(() => Array.fromAsync(stream), ProviderError);
  assertEquals(double.requests.length, 1);
});

Deno.test("an unreadable answer is not asked for again", async () => {
  const malformed = raw("<html>", { headers: { "content-type": "application/json" } });
  await using double = await startProviderDouble(malformed);
  await assertRejects(() => providerOf(double, { retries: 2 }).complete(REQUEST), ProviderError);
  assertEquals(double.requests.length, 1);
});

Deno.test("a connection failure is tried again", async () => {
  const cut = partial(["{"], { end: "cut" });
  await using double = await startProviderDouble([cut, completion({ content: "Yes." })]);
  const reply = await providerOf(double, { retries: 1 }).complete(REQUEST);
  assertEquals([reply.content, double.requests.length], ["Yes.", 2]);
});

Deno.test("the retries end, and the last failure is reported", async () => {
  await using double = await startProviderDouble(errorStatus(429, SOON));
  const error = await assertRejects(
    () => providerOf(double, { retries: 2 }).complete(REQUEST),
    ProviderError,
  );
  assertEquals([error.code, error.headers["retry-after"]], ["rate_limited", "1"]);
  assertEquals(double.requests.length, 3);
});

const FAR_OFF: Record<string, string>[] = [
  { "retry-after": "3600" },
  { "retry-after": new Date(Date.now() + 3_600_000).toUTCString() },
  { "retry-after-ms": "3600000" },
];
for (const headers of FAR_OFF) {
  for (const [status, code] of [[429, "rate_limited"], [503, "provider_error"]] as const) {
    const [[name, value] = []] = Object.entries(headers);
    Deno.test(`a ${status} with ${name}: ${value}, past the timeout, fails at once`, async () => {
      await using double = await startProviderDouble(errorStatus(status, { headers }));
      const error = await assertRejects(
        () => providerOf(double, { retries: 2 }).complete(REQUEST),
        ProviderError,
      );
      assertEquals([error.code, double.requests.length], [code, 1]);
    });
  }
}

Deno.test("a provider's x-should-retry is obeyed", async () => {
  await using double = await startProviderDouble([
    errorStatus(400, { headers: { "x-should-retry": "true", "retry-after-ms": "1" } }),
    errorStatus(500, { headers: { "x-should-retry": "false" } }),
  ]);
  const error = await assertRejects(
    () => providerOf(double, { retries: 5 }).complete(REQUEST),
    ProviderError,
  );
  assertEquals(error.failure, { kind: "status", status: 500 });
  assertEquals(double.requests.length, 2);
});

const SILENT: Record<string, Answer> = {
  "never answers": hang(),
  "stops inside a body": partial(['{"choices": ['], { end: "hang" }),
  "stops inside a stream": sse([HI], { end: "hang" }),
};
/** Tried in turn: on a busy machine the shorter ones end before the request is sent. */
const TIMEOUTS_MS = [50, 200, 800, 3_200, 12_800];

/** The error of the first call that sent its request in time. */
async function timeoutOf(
  way: typeof WAYS[keyof typeof WAYS],
  double: ProviderDouble,
): Promise<ProviderError> {
  for (const timeoutMs of TIMEOUTS_MS) {
    const provider = providerOf(double, { timeoutMs, retries: 2 });
    const error = await assertRejects(() => way(provider), ProviderError);
    if (double.requests.length > 0) return error;
  }
  throw new Error("no request was sent in time");
}

for (const [what, answer] of Object.entries(SILENT)) {
  for (const way of ["complete", "stream", "listModels"] as const) {
    Deno.test(`${way}: a provider that ${what} times out, and is hung up on`, async () => {
      await using double = await startProviderDouble(answer);
      const error = await timeoutOf(WAYS[way], double);
      assertEquals([error.status, error.code], [504, "provider_timeout"]);
      assertEquals(error.failure, { kind: "timeout" });
      assertMatch(error.message, /^cannot .+: it did not answer in time$/);
      await double.aborted();
      assertEquals(double.requests.length, 1);
    });
  }
}

Deno.test("the timeout covers all retries of a completion together", async () => {
  const busy = errorStatus(503, SOON);
  for (const timeoutMs of TIMEOUTS_MS) {
    await using double = await startProviderDouble([busy, busy, hang()]);
    const error = await assertRejects(
      () => providerOf(double, { timeoutMs, retries: 9 }).complete(REQUEST),
      ProviderError,
    );
    assertEquals(error.code, "provider_timeout");
    if (double.requests.length < 3) continue;
    return assertEquals(double.requests.length, 3);
  }
  throw new Error("the retries were not sent in time");
});

Deno.test("time that the reader of a stream takes is not the provider's", async () => {
  using timeouts = holdTimeouts();
  await using double = await startProviderDouble(sse(completionChunks()));
  const provider = providerOf(double, { timeoutMs: HELD_MS, streamTimeoutMs: 2 * HELD_MS });
  const types: string[] = [];
  for await (const delta of provider.stream(REQUEST)) {
    if (types.length === 0) { // waits the whole time
      timeouts.hangs();
      await until(() => timeouts.running === 0, { within: 5_000 });
    }
    types.push(delta.type);
  }
  assertEquals(types, ["text", "text", "reply"]);
});

for (const [what, answer] of Object.entries(SILENT)) {
  for (const way of ["complete", "stream", "listModels"] as const) {
    Deno.test(`${way}: a caller that leaves hangs up on a provider that ${what}`, async () => {
      await using double = await startProviderDouble(answer);
      const caller = new AbortController();
      const asked = WAYS[way](providerOf(double, { retries: 2 }), { signal: caller.signal });
      double.received().then(() => caller.abort());
      const error = await assertRejects(() => asked);
      assert(isAbort(error), String(error));
      await double.aborted();
      assertEquals(double.requests.length, 1);
    });
  }
}

for (const way of ["complete", "stream", "listModels"] as const) {
  Deno.test(`${way}: a caller that has left already costs no request`, async () => {
    await using double = await startProviderDouble(completion());
    const error = await assertRejects(() =>
      WAYS[way](providerOf(double), { signal: AbortSignal.abort() })
    );
    assert(isAbort(error), String(error));
    assertEquals(double.requests.length, 0);
  });
}

Deno.test("leaving is an AbortError, whatever reason the signal has", async () => {
  await using double = await startProviderDouble(hang());
  const signal = AbortSignal.abort(new Error("some reason"));
  assert(isAbort(await assertRejects(() => providerOf(double).complete(REQUEST, { signal }))));
});

Deno.test("a call that has ended leaves nothing on the caller's signal", async () => {
  await using double = await startProviderDouble([completion(), completion()]);
  const caller = new AbortController();
  const provider = providerOf(double);
  await provider.complete(REQUEST, { signal: caller.signal });
  caller.abort();
  assertEquals((await provider.complete(REQUEST)).content, "Hello there.");
});

const ENDINGS: Record<string, Answer> = {
  "an answer": completion(),
  "a stream": sse(completionChunks()),
  "a stream that ends early": sse([HI], { end: "close" }),
  "an error": errorStatus(500),
};
for (const [what, answer] of Object.entries(ENDINGS)) {
  for (const way of ["complete", "stream"] as const) {
    Deno.test({
      name: `${way}: no timer is left behind by ${what}`,
      async fn() {
        await using double = await startProviderDouble(answer);
        await WAYS[way](providerOf(double)).catch(() => {});
        assert(double.requests.length > 0); // the timers are checked by Deno
      },
    });
  }
}

const CALL = { id: "aaaaaaaaa", name: "look_up", arguments: '{"city":"Oslo"}' };

/** A piece of the call, with what is left out of it set to `undefined`. */
function piece(text: string, more: { index?: number; id?: string; name?: string } = {}) {
  const { index = 0, id, name } = more;
  return { index, id, function: { name, arguments: text } };
}

const { id, name } = CALL;
const FIRST = piece('{"city":', { id, name });
const REST = piece('"Oslo"}');

/** How servers repeat a call. */
const REPEATED: Record<string, unknown[]> = {
  "whole, after its pieces": [FIRST, REST, piece(CALL.arguments, { id, name })],
  "whole, twice": [piece(CALL.arguments, { id, name }), piece(CALL.arguments, { id, name })],
  "without its id and name": [FIRST, REST, piece(CALL.arguments)],
  "with other blanks": [FIRST, REST, piece('{ "city": "Oslo" }\n', { id, name })],
  "at another index": [FIRST, REST, piece(CALL.arguments, { index: 1, id, name })],
};
for (const [how, pieces] of Object.entries(REPEATED)) {
  Deno.test(`a tool call that a stream repeats ${how}, is made once`, async () => {
    const { reply, deltas } = await streamed([
      ...pieces.map((piece) => ({ choices: [{ delta: { tool_calls: [piece] } }] })),
      { choices: [{ delta: {}, finish_reason: "tool_calls" }] },
    ]);
    assertEquals(reply.toolCalls, [CALL]);
    const texts = deltas.map((delta) => delta.type === "call" ? delta.arguments : "");
    assertEquals(texts.join(""), CALL.arguments);
  });
}

Deno.test("a function_call, as servers of 2023 answer, is a tool call, streamed or not", async () => {
  const { reply } = await streamed([
    { choices: [{ delta: { content: null, function_call: { name, arguments: "" } } }] },
    { choices: [{ delta: { function_call: { arguments: '{"city":' } } }] },
    { choices: [{ delta: { function_call: { arguments: '"Oslo"}' } } }] },
    { choices: [{ delta: {}, finish_reason: "function_call" }] },
  ]);
  const body = completionBody({});
  const message = { role: "assistant", function_call: { name, arguments: CALL.arguments } };
  await using double = await startProviderDouble(json({ ...body, choices: [{ message }] }));
  const whole = await providerOf(double).complete(REQUEST);
  for (const { toolCalls, extra } of [reply, whole]) {
    assertEquals(toolCalls.map(({ id: _, ...call }) => call), [{
      name,
      arguments: CALL.arguments,
    }]);
    assertEquals(extra, undefined);
  }
});

type Message = { role: string; content: string; name?: string };

/** Refuses `name` in messages, with Mistral's error. */
const mistral: Answer = (request) => {
  const index = request.body.messages.findIndex((message: Message) => message.name !== undefined);
  if (index < 0) return completion()(request);
  const loc = ["body", "messages", index, "user", "name"];
  const detail = [{ type: "extra_forbidden", loc, msg: "Extra inputs are not permitted" }];
  return json({ object: "error", message: { detail } }, { status: 422 })(request);
};

Deno.test("a model that refuses the names of authors gets them in the text from then on", async () => {
  await using double = await startProviderDouble(mistral);
  const { post } = openAIRoutes(hubOf(double));
  for (let call = 0; call < 2; call++) {
    const messages = [{ role: "user", name: "bob", content: "Hello" }];
    const response = await post("chat/completions", { messages });
    assertEquals(response.status, 200);
    await response.body?.cancel();
  }
  const sent = double.requests.map(({ body }) => body.messages.at(-1));
  const named = { role: "user", content: "bob: Hello" };
  assertEquals(sent, [{ role: "user", name: "bob", content: "Hello" }, named, named]);
});

/** Bedrock's error, and the same from LiteLLM. */
const REFUSALS = [
  "The toolConfig field must be defined when using toolUse and toolResult content blocks.",
  "Bedrock doesn't support tool calling without `tools=` param specified.",
];

/** A provider that refuses tool calls in a conversation without the definitions of tools. */
function strict(answers: CompletionFields[], refusal: string): Answer[] {
  let given = 0;
  return [(request) => {
    const { messages, tools, stream } = request.body;
    const hasCalls = messages.some((message: { role: string }) => message.role === "tool");
    if (hasCalls && !tools) return errorStatus(400, { message: refusal })(request);
    const fields = answers[given++]!;
    return (stream ? sse(completionChunks(fields)) : completion(fields))(request);
  }];
}

async function ask(baseUrl: string, { body, accept, ...environment }: {
  body: unknown;
  accept: string;
  AGENT_MAX_STEPS?: string;
  AGENT_TOOLS?: string;
}) {
  const { service } = agentService(hubOf({ baseUrl }), { environment });
  const response = await service(agentRequestOf(body, { headers: { accept } }));
  return { status: response.status, text: await response.text() };
}

const toolNames = ({ body }: ReceivedRequest) =>
  // deno-lint-ignore no-explicit-any
  body.tools?.map((tool: any) => tool.function.name);

const SUM = { id: "c1", name: "calculator", arguments: '{"expression":"1+1"}' };

for (const accept of ["application/json", "text/event-stream"]) {
  for (const refusal of REFUSALS) {
    Deno.test(`a provider that wants tools with their calls answers at the step limit, ${accept}: ${refusal}`, async () => {
      const answers = [{ toolCalls: [SUM] }, { content: "It is 2." }];
      await using double = await startProviderDouble(strict(answers, refusal));
      const { status, text } = await ask(double.baseUrl, {
        body: { prompt: "What is 1+1?" },
        accept,
        AGENT_MAX_STEPS: "1",
      });
      assertEquals(status, 200);
      assertStringIncludes(text, '"content":"It is 2."');
      const offered = [["current_time", "calculator"], undefined, ["calculator"]];
      assertEquals(double.requests.map(toolNames), offered);
    });
  }
}

Deno.test("an agent without tools answers a conversation that has some, at such a provider", async () => {
  await using double = await startProviderDouble(strict([{}], REFUSALS[0]!));
  const { status } = await ask(double.baseUrl, {
    body: {
      messages: [
        { type: "human", content: "Look." },
        { type: "tool", name: "look", content: "seen" },
        { type: "human", content: "And?" },
      ],
    },
    accept: "application/json",
    AGENT_TOOLS: "none",
  });
  assertEquals([status, double.requests.map(toolNames)], [200, [undefined, ["look"]]]);
});

Deno.test("a refusal that is not about tools is reported after one call", async () => {
  const message = "This model's maximum context length is 10 tokens.";
  await using double = await startProviderDouble(errorStatus(400, { message }));
  const { status, text } = await ask(double.baseUrl, {
    body: { messages: [{ type: "human", content: "Look." }, { type: "tool", content: "seen" }] },
    accept: "application/json",
    AGENT_TOOLS: "none",
  });
  assertEquals([status, double.requests.length], [400, 1]);
  assertStringIncludes(text, message);
});

const lengthsOf = ({ body }: ReceivedRequest): number[] =>
  body.tools.map((tool: { function: { description?: string } }) =>
    tool.function.description?.length ?? 0
  ).slice(-2);

/** Refuses long descriptions of tools, with OpenAI's error. */
const azure: Answer = (request) => {
  const at = lengthsOf(request).findIndex((length) => length > 1024);
  if (at < 0) return completion()(request);
  const message =
    `Invalid 'tools[${at}].function.description': string too long. Expected a string ` +
    "with maximum length 1024, but got a string with length 3000 instead.";
  return errorStatus(400, { message })(request);
};

const toTool = (name: string, description: string) => ({
  type: "function",
  function: { name, description, parameters: { type: "object" } },
});
const BODY = {
  messages: [{ role: "user", content: "Hello" }],
  tools: [toTool("long", "x".repeat(3_000)), toTool("short", "Looks.")],
};

Deno.test("a model that refuses long descriptions of tools gets their start from then on", async () => {
  await using double = await startProviderDouble(azure);
  const { post } = openAIRoutes(hubOf(double));
  for (let call = 0; call < 2; call++) {
    const response = await post("chat/completions", BODY);
    assertEquals(response.status, 200);
    await response.body?.cancel();
  }
  assertEquals(double.requests.map(lengthsOf), [[3_000, 6], [1_024, 6], [1_024, 6]]);
});

Deno.test("another refusal that has to do with a description is passed on", async () => {
  const message = "Invalid 'tools[0].function.description': it is not a string";
  await using double = await startProviderDouble(errorStatus(400, { message }));
  const { post } = openAIRoutes(hubOf(double));
  const response = await post("chat/completions", BODY);
  const { error } = await response.json();
  assertEquals([response.status, error.message, double.requests.length], [400, message, 1]);
});

const TOOLS = Array.from({ length: 130 }, (_, at): Tool => ({
  name: `tool_${at}`,
  description: "",
  schema: z.object({}),
  run: () => "",
}));

const namesOf = ({ body }: ReceivedRequest): string[] =>
  body.tools.map((tool: { function: { name: string } }) => tool.function.name);

/** Errors of OpenAI, Groq, xAI and Gemini. */
const TOO_MANY_TOOLS = [
  "Invalid 'tools': array too long. Expected an array with maximum length 128, but got an array " +
  "with length 130 instead.",
  "'tools' : maximum number of items is 128",
  "Maximum tools limit reached. 130 tools have been provided but the maximum is 128.",
  "* tools[0].function_declarations: [FIELD_INVALID] At most 128 function declarations can be " +
  "specified.",
];

/** Asks twice, and returns the statuses and how many tools each request to the hub had. */
async function askWith(answer: Answer, more: Record<string, unknown> = {}) {
  await using hub = await startProviderDouble(answer);
  const { service } = agentService(hubOf(hub), { tools: createFixedTools(TOOLS) });
  const statuses: number[] = [];
  for (let call = 0; call < 2; call++) {
    const { status, body } = await service(agentRequestOf({ prompt: "Hi", ...more }));
    statuses.push(status);
    await body?.cancel();
  }
  return { statuses, offered: hub.requests.map(namesOf) };
}

Deno.test("a model that refuses so many tools is asked with the first 128 from then on", async () => {
  for (const message of TOO_MANY_TOOLS) {
    const { statuses, offered } = await askWith((request) =>
      namesOf(request).length > 128 ? errorStatus(400, { message })(request) : completion()(request)
    );
    assertEquals(statuses, [200, 200]);
    assertEquals(offered.map(({ length }) => length), [130, 128, 128]);
    assertEquals(offered[1], TOOLS.slice(0, 128).map(({ name }) => name));
  }
});

Deno.test("another refusal of a request with many tools is passed on", async () => {
  const message = "Invalid 'tools[0].function.name': it has a blank";
  const { statuses, offered } = await askWith(errorStatus(400, { message }));
  assertEquals([statuses, offered.length], [[400, 400], 2]);
});

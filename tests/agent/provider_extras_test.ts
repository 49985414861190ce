import { assert, assertEquals, assertObjectMatch, assertStringIncludes } from "@std/assert";
import { agentRequestOf, agentService } from "../fakes/agent_service.ts";
import { readChunks, readEvents } from "../fakes/events.ts";
import { providerOf } from "../fakes/openai_provider.ts";
import { openAIRoutes } from "../fakes/openai_routes.ts";
import {
  type Answer,
  completion,
  completionBody,
  completionChunks,
  type CompletionFields,
  json,
  sse,
  startProviderDouble,
} from "../fakes/provider_double.ts";

const QUESTION = { role: "user", content: "Hi" };
const SUM = { name: "calculator", arguments: '{"expression":"2+2"}' };

// deno-lint-ignore no-explicit-any -- bodies of answers
type Body = any;

/** What the agent answers below `/v1/` over a provider that sends these answers. */
async function complete(answers: Answer | Answer[], more: Body = {}): Promise<Body> {
  await using double = await startProviderDouble(answers);
  const { post } = openAIRoutes(providerOf(double));
  const response = await post("chat/completions", { messages: [QUESTION], ...more });
  return more.stream ? await readChunks(response) : await response.json();
}

async function respond(answer: Answer): Promise<Body> {
  await using double = await startProviderDouble(answer);
  const { post } = openAIRoutes(providerOf(double));
  return await (await post("responses", { input: "Hi" })).json();
}

async function askAgent(answer: Answer): Promise<Body> {
  await using double = await startProviderDouble(answer);
  const { service } = agentService(providerOf(double));
  return await (await service(agentRequestOf({ prompt: "Hi" }))).json();
}

const STREAM = { stream: true, stream_options: { include_usage: true } };
const COUNTS = { prompt_tokens: 5, completion_tokens: 7, total_tokens: 12 };

/** OpenRouter's, LiteLLM's and Perplexity's. */
const USAGE = {
  ...COUNTS,
  prompt_tokens_details: { cached_tokens: 2, cache_write_tokens: 1 },
  cost: 0.1,
  cost_details: { upstream_inference_cost: 0.2 },
  cache_creation_input_tokens: 3,
  search_context_size: "low",
};

Deno.test("usage keeps its cost and cache counts, added up over the calls of a run", async () => {
  const call = (stream: boolean): Answer =>
    stream
      ? sse(completionChunks({ toolCalls: [SUM], usage: USAGE }))
      : json(completionBody({ toolCalls: [SUM], usage: USAGE }));
  const end = (stream: boolean): Answer =>
    stream ? sse(completionChunks({ usage: USAGE })) : json(completionBody({ usage: USAGE }));
  const sum = {
    prompt_tokens: 10,
    completion_tokens: 14,
    total_tokens: 24,
    prompt_tokens_details: { cached_tokens: 4, cache_write_tokens: 2 },
    cost: 0.2,
    cost_details: { upstream_inference_cost: 0.4 },
    cache_creation_input_tokens: 6,
    search_context_size: "low",
  };
  const { usage } = await complete([call(false), end(false)]);
  assertEquals(usage, sum);
  const chunks = await complete([call(true), end(true)], STREAM);
  assertEquals(chunks.at(-1).usage, sum);

  const reply = await askAgent(end(false));
  assertObjectMatch(reply.response_metadata.token_usage, { cost: 0.1, search_context_size: "low" });
  const { input_token_details } = reply.usage_metadata;
  assertEquals(input_token_details, { cache_read: 2, cache_creation: 1 });
  assertObjectMatch((await respond(end(false))).usage, { input_tokens: 5, cost: 0.1 });
});

Deno.test("usage is found where Groq and Moonshot stream it", async () => {
  const [first, ...rest] = completionChunks({ usage: null });
  const last: Body = rest.pop();
  const ends = [
    { ...last, x_groq: { id: "req_1", usage: COUNTS } },
    { ...last, choices: [{ ...last.choices[0], usage: COUNTS }] },
  ];
  for (const end of ends) {
    const chunks = await complete(sse([first, ...rest, end]), STREAM);
    assertEquals(chunks.at(-1).usage, COUNTS);
  }
});

const SOURCES = {
  citations: ["https://example.org"],
  search_results: [{ title: "Example", url: "https://example.org" }],
  prompt_filter_results: [{
    prompt_index: 0,
    content_filter_results: { hate: { filtered: false } },
  }],
};
const FILTER = { content_filter_results: { violence: { filtered: false, severity: "safe" } } };

Deno.test("sources and filter results of the answer come through the agent", async () => {
  const body = completionBody();
  const whole = json({
    ...body,
    ...SOURCES,
    choices: [{ ...body.choices[0], ...FILTER }],
    obfuscation: "x",
  });
  const completion = await complete(whole);
  assertObjectMatch(completion, { ...SOURCES, choices: [FILTER] });
  assertEquals("obfuscation" in completion, false);
  assertObjectMatch((await askAgent(whole)).response_metadata, { ...SOURCES, ...FILTER });
  assertObjectMatch(await respond(whole), SOURCES);

  // Perplexity sends its sources with every chunk.
  const streamed = sse(
    completionChunks().map((chunk: Body) => ({
      ...chunk,
      ...SOURCES,
      choices: chunk.choices.map((choice: Body) => ({ ...choice, ...FILTER })),
    })),
  );
  const chunks = await complete(streamed, { stream: true });
  assertObjectMatch(chunks.at(-1), { ...SOURCES, choices: [{ finish_reason: "stop", ...FILTER }] });
  assertEquals(chunks.filter((chunk: Body) => chunk.citations).length, 1);
});

Deno.test("tool calls in a second choice are calls of the answer", async () => {
  const body = completionBody({ content: "Let me see." });
  const called = completionBody({ toolCalls: [SUM] }).choices[0]!;
  for (const index of [0, 1]) {
    const whole = json({ ...body, choices: [body.choices[0], { ...called, index }] });
    const { choices } = await complete([whole, json(completionBody({ content: "It is 4." }))]);
    assertEquals(choices[0].message.content, "It is 4.", `index ${index}`);
  }
  const chunk = (index: number, delta: unknown, finish_reason: string | null = null) => ({
    id: "c",
    choices: [{ index, delta, finish_reason }],
  });
  const call = { index: 0, id: "c1", type: "function", function: SUM };
  const stream = sse([
    chunk(0, { role: "assistant", content: "Let me see." }),
    chunk(1, { tool_calls: [call] }),
    chunk(0, {}, "tool_calls"),
    chunk(1, {}, "tool_calls"),
  ]);
  const chunks = await complete(
    [stream, sse(completionChunks({ content: "It is 4." }))],
    { stream: true },
  );
  const text = chunks.map(({ choices }: Body) => choices[0]?.delta.content ?? "").join("");
  assertEquals(text, "Let me see.\n\nIt is 4.");
});

Deno.test("what a provider says about a failed generation or a filter reaches the caller", async () => {
  const inner = { code: "ResponsibleAIPolicyViolation", content_filter_result: { jailbreak: {} } };
  const refusal = {
    message: "Failed to call a function.",
    type: "invalid_request_error",
    code: "tool_use_failed",
    failed_generation: "<function=calculator>\n{bad}",
    innererror: inner,
  };
  await using double = await startProviderDouble(json({ error: refusal }, { status: 400 }));
  const { service, post } = openAIRoutes(providerOf(double));
  const { error } = await (await post("chat/completions", { messages: [QUESTION] })).json();
  assertEquals(error, { ...refusal, param: null });
  const problem = await (await service(agentRequestOf({ prompt: "Hi" }))).json();
  assertEquals(problem.provider, { ...refusal, param: null });
});

/** What providers really send, over real HTTP, with and without streaming: both must be equal. */

const BODY = { messages: [{ type: "human", content: "Hi" }] };
const sum = (expression: string, id = "same") => ({
  id,
  name: "calculator",
  arguments: JSON.stringify({ expression }),
});

interface Outcome {
  status: number;
  // deno-lint-ignore no-explicit-any
  body: any;
  /** The messages of the last request to the provider. */
  // deno-lint-ignore no-explicit-any
  sent: any[];
  calls: number;
}

async function run(answers: Answer[], accept: string): Promise<Outcome> {
  await using double = await startProviderDouble(answers);
  const { service } = agentService(providerOf(double));
  const response = await service(agentRequestOf(BODY, { headers: { accept } }));
  const isStream = response.headers.get("content-type")?.startsWith("text/event-stream");
  const events = isStream ? await Array.fromAsync(readEvents(response)) : [];
  const end = events.find(({ event }) => event === "message" || event === "error");
  const body = isStream ? end?.data : await response.json();
  return {
    status: end?.event === "error" ? body.status : response.status,
    body,
    sent: double.requests.at(-1)?.body.messages,
    calls: double.requests.length,
  };
}

/** Both ways with one script; `check` must hold for each, and the answers must be equal. */
async function bothWays(
  replies: CompletionFields[],
  check: (outcome: Outcome) => void,
): Promise<void> {
  const plain = await run(replies.map(completion), "application/json");
  const chunks = replies.map((fields) => sse(completionChunks(fields)));
  const streamed = await run(chunks, "text/event-stream");
  check(plain);
  check(streamed);
  const withoutIds = ({ id: _, ...body }: { id: string }) => body;
  if (plain.status === 200) assertEquals(withoutIds(streamed.body), withoutIds(plain.body));
}

const toolTexts = ({ sent }: Outcome) =>
  sent.filter(({ role }) => role === "tool").map(({ content }) => content);

Deno.test("a plain answer is the same with and without streaming, including its usage", async () => {
  await bothWays([{ content: "Hello there." }], ({ status, body }) => {
    assertEquals([status, body.content], [200, "Hello there."]);
    assertEquals(body.usage_metadata.total_tokens, 12);
  });
});

Deno.test("without usage from the provider the counts are zero, with and without streaming", async () => {
  await bothWays([{ usage: null }], ({ body }) => {
    assertEquals(body.usage_metadata.total_tokens, 0);
  });
});

Deno.test("results of parallel calls with repeated ids are not mixed up", async () => {
  const twice = { toolCalls: [sum("1+1"), sum("2+2")] };
  await bothWays([twice, twice, { content: "ok" }], (outcome) => {
    assertEquals(outcome.body.content, "ok");
    assertEquals(toolTexts(outcome), ["2", "4", "2", "4"]);
    const ids = outcome.sent.flatMap(({ tool_call_id }) => tool_call_id ?? []);
    assertEquals(new Set(ids).size, 4);
  });
});

Deno.test("the model is told that its arguments are not JSON, and corrects its call", async () => {
  const bad = { toolCalls: [{ ...sum("1+1"), arguments: '{"expression": ' }] };
  await bothWays([bad, { toolCalls: [sum("1+1")] }, { content: "2" }], (outcome) => {
    assertEquals(outcome.body.content, "2");
    const [first, second] = toolTexts(outcome);
    assertStringIncludes(first, "must be one JSON object");
    assertEquals(second, "2");
  });
});

Deno.test("null content is asked for once more, then the error is empty_reply", async () => {
  await bothWays([{ content: null }, { content: "Here." }], ({ body, calls }) => {
    assertEquals([body.content, calls], ["Here.", 2]);
  });
  await bothWays([{ content: null }], ({ status, body, calls }) => {
    assertEquals([status, body.code, calls], [502, "empty_reply", 2]);
  });
});

Deno.test("a tool call is assembled from its fragments", async () => {
  const [opening, ...rest] = completionChunks({ toolCalls: [sum("17*23")] });
  const base = { id: "c", object: "chat.completion.chunk", model: "m" };
  const fragments = [
    { index: 0, id: "call00000", type: "function", function: { name: "calc", arguments: "" } },
    { index: 0, function: { arguments: '{"expres' } },
    { index: 0, function: { arguments: 'sion":"17' } },
    { index: 0, function: { arguments: '*23"}' } },
  ].map((call) => ({
    ...base,
    choices: [{ index: 0, delta: { tool_calls: [call] }, finish_reason: null }],
  }));
  fragments[0]!.choices[0]!.delta.tool_calls[0]!.function.name = "calculator";
  const stream = sse([opening, ...fragments, ...rest.slice(1)]);
  const outcome = await run(
    [stream, sse(completionChunks({ content: "391" }))],
    "text/event-stream",
  );
  assertEquals([outcome.body.content, toolTexts(outcome)], ["391", ["391"]]);
});

Deno.test("a stream that breaks off, or is empty, is a provider error", async () => {
  const half = completionChunks({ content: "One two three" }).slice(0, 3);
  for (
    const answer of [
      sse(half, { end: "close" }),
      sse(half, { end: "cut" }),
      sse([], { end: "close" }),
    ]
  ) {
    const { status, body } = await run([answer], "text/event-stream");
    assertEquals([status, body.code], [502, "provider_error"]);
  }
});

Deno.test("a stream with only [DONE] is an empty reply", async () => {
  const { status, body, calls } = await run([sse([])], "text/event-stream");
  assertEquals([status, body.code, calls], [502, "empty_reply", 2]);
});

Deno.test("a tool's result keeps the role tool", async () => {
  await bothWays([{ toolCalls: [sum("1+1")] }, { content: "2" }], ({ sent }) => {
    const holders = sent.filter(({ content }) => content === "2");
    assert(holders.length > 0 && holders.every(({ role }) => role === "tool"));
  });
});

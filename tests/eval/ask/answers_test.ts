import { assertEquals, assertStringIncludes } from "@std/assert";
import { deflateSync, zstdCompressSync } from "node:zlib";
import { priceTarget } from "../../../eval/ask/prices.ts";
import type { InteractionResult } from "../../../eval/test/interaction_result.ts";
import { startCallClock } from "../../../shared/providers/call_clock.ts";
import { readAnyReply } from "../../../shared/providers/openai_answer.ts";
import { endpointTarget } from "../../fakes/endpoint_target.ts";
import {
  evalService,
  evaluateBody,
  evaluateRequestOf,
  evaluateWith,
  wiredService,
} from "../../fakes/eval_service.ts";
import {
  type Answer,
  completionBody,
  completionChunks,
  json,
  raw,
  type ReceivedRequest,
  startProviderDouble,
} from "../../fakes/provider_double.ts";

/** The forms in which endpoints answer, each over real HTTP, and the resulting turn. */

type Message = Record<string, unknown>;

const asCompletion = (message: Message, finish_reason = "stop") =>
  Response.json({ choices: [{ message: { role: "assistant", ...message }, finish_reason }] });

const encoded = (encoding: string, bytes: Uint8Array) =>
  new Response(new Uint8Array(bytes), {
    headers: { "content-type": "application/json", "content-encoding": encoding },
  });

const asEvents = (events: unknown[]) =>
  new Response(
    events.map((event) => `data: ${typeof event === "string" ? event : JSON.stringify(event)}\n\n`)
      .join(""),
    { headers: { "content-type": "text/event-stream; charset=utf-8" } },
  );

const CALLS = [{ id: "c1", type: "function", function: { name: "weather", arguments: "{}" } }];
const whole = JSON.stringify(completionBody({ content: "Paris" }));
const answered = { agent_reply: "Paris", finish_reason: "stop" };
const failed = { agent_reply: "Request failed" };

interface Case {
  what: string;
  answer: () => Response;
  expected: Partial<
    Pick<InteractionResult, "agent_reply" | "finish_reason" | "truncated" | "reasoning">
  >;
  code?: string;
}

const OPENAI: Case[] = [
  {
    what: "a reply that ends at the token limit is marked",
    answer: () => asCompletion({ content: "Par" }, "length"),
    expected: { agent_reply: "Par", finish_reason: "length", truncated: true },
  },
  {
    what: "a reply of null is an error of its own",
    answer: () => asCompletion({ content: null }),
    expected: { ...failed, finish_reason: "stop" },
    code: "empty_reply",
  },
  {
    what: "a reply that the provider filtered is an empty one, and the turn says why",
    answer: () => asCompletion({ content: "" }, "content_filter"),
    expected: { ...failed, finish_reason: "content_filter" },
    code: "empty_reply",
  },
  {
    what: "a prompt that the content filter refuses with a 400 is answered without a text",
    answer: () =>
      Response.json({
        error: {
          message: "The response was filtered due to the prompt.",
          type: null,
          param: "prompt",
          code: "content_filter",
          status: 400,
          innererror: { code: "ResponsibleAIPolicyViolation" },
        },
      }, { status: 400 }),
    expected: { ...failed, finish_reason: "content_filter" },
    code: "empty_reply",
  },
  {
    what: "a reply of tool calls alone is an error of its own",
    answer: () => asCompletion({ content: null, tool_calls: CALLS }, "tool_calls"),
    expected: { ...failed, finish_reason: "tool_calls" },
    code: "tool_calls_only",
  },
  {
    what: "a function_call, as servers of 2023 answer, is a tool call",
    answer: () =>
      asCompletion({ content: null, function_call: CALLS[0]!.function }, "function_call"),
    expected: { ...failed, finish_reason: "function_call" },
    code: "tool_calls_only",
  },
  {
    what: "a reply with text and tool calls is scored by its text",
    answer: () => asCompletion({ content: "Paris", tool_calls: CALLS }, "tool_calls"),
    expected: { agent_reply: "Paris", finish_reason: "tool_calls" },
  },
  {
    what: "a leading <think> block is the reasoning, not the reply",
    answer: () => asCompletion({ content: "<think>\nFrance…\n</think>\n\nParis" }),
    expected: { ...answered, reasoning: "France…" },
  },
  {
    what: "an empty <think> block is dropped",
    answer: () => asCompletion({ content: "<think>\n\n</think>\n\nParis" }),
    expected: answered,
  },
  {
    what: "a <think> block that is not closed leaves no reply",
    answer: () => asCompletion({ content: "<think>France, so" }, "length"),
    expected: { ...failed, finish_reason: "length", truncated: true, reasoning: "France, so" },
    code: "empty_reply",
  },
  {
    what: "reasoning whose opening tag the model's template has written ends at its closing tag",
    answer: () => asCompletion({ content: "France, so\n</think>\n\nParis" }),
    expected: { ...answered, reasoning: "France, so" },
  },
  {
    what: "a closing tag within a sentence belongs to the reply",
    answer: () => asCompletion({ content: "End it with </think> and go on" }),
    expected: { agent_reply: "End it with </think> and go on", finish_reason: "stop" },
  },
  {
    what: "a leading <thinking> block is the reasoning, too",
    answer: () => asCompletion({ content: "<thinking>France…</thinking>\nParis" }),
    expected: { ...answered, reasoning: "France…" },
  },
  {
    what: "a <think> block further in belongs to the reply",
    answer: () => asCompletion({ content: "Write <think>x</think> first" }),
    expected: { agent_reply: "Write <think>x</think> first", finish_reason: "stop" },
  },
  {
    what: "reasoning in a field of its own is kept",
    answer: () => asCompletion({ content: "Paris", reasoning_content: "France…" }),
    expected: { ...answered, reasoning: "France…" },
  },
  {
    what: "content in parts is their text, and parts of thought are the reasoning",
    answer: () =>
      asCompletion({
        content: [
          { type: "thinking", thinking: [{ type: "text", text: "France…" }] },
          { type: "text", text: "Par" },
          "is",
        ],
      }),
    expected: { ...answered, reasoning: "France…" },
  },
  {
    what: "deflate is decoded",
    answer: () => encoded("deflate", deflateSync(whole)),
    expected: answered,
  },
  {
    what: "zstd is decoded",
    answer: () => encoded("zstd", zstdCompressSync(whole)),
    expected: answered,
  },
  {
    what: "events that nobody asked for are read to their end",
    answer: () => asEvents([...completionChunks({ content: "Paris" }), "[DONE]"]),
    expected: answered,
  },
  {
    what: "events with reasoning and tool calls are put together",
    answer: () =>
      asEvents([
        { choices: [{ delta: { role: "assistant", reasoning_content: "Fra" } }] },
        { choices: [{ delta: { reasoning_content: "nce" } }] },
        { choices: [{ delta: { tool_calls: [{ index: 0, id: "c", function: { name: "w" } }] } }] },
        { choices: [{ delta: { tool_calls: [{ index: 0, function: { arguments: "{}" } }] } }] },
        { choices: [{ delta: {}, finish_reason: "tool_calls" }] },
      ]),
    expected: { ...failed, finish_reason: "tool_calls", reasoning: "France" },
    code: "tool_calls_only",
  },
  {
    what: "events that end too early are no reply",
    answer: () => asEvents([{ choices: [{ delta: { content: "Par" } }] }]),
    expected: { ...failed, finish_reason: null },
    code: "provider_error",
  },
  {
    what: "events with an empty finish reason that end too early are no reply",
    answer: () => asEvents([{ choices: [{ delta: { content: "Par" }, finish_reason: "" }] }]),
    expected: { ...failed, finish_reason: null },
    code: "provider_error",
  },
  {
    what: "a 200 with an error is that error",
    answer: () => Response.json({ error: { message: "slow down", code: 429 } }),
    expected: { ...failed, finish_reason: null },
    code: "rate_limited",
  },
  {
    what: "a 200 with an error that has no number goes by its words",
    answer: () => Response.json({ error: { message: "no", type: "authentication_error" } }),
    expected: { ...failed, finish_reason: null },
    code: "provider_auth",
  },
  {
    what: "an error among the events is that error",
    answer: () => asEvents([{ error: { message: "too long", code: "500" } }]),
    expected: { ...failed, finish_reason: null },
    code: "provider_error",
  },
];

const AGENT: Case[] = [
  {
    what: "an agent's reply says why it stopped",
    answer: () => Response.json({ content: "Par", response_metadata: { finish_reason: "length" } }),
    expected: { agent_reply: "Par", finish_reason: "length", truncated: true },
  },
  {
    what: "an agent's content in parts is their text",
    answer: () => Response.json({ content: [{ type: "text", text: "Paris" }] }),
    expected: { agent_reply: "Paris", finish_reason: null },
  },
  {
    what: "an agent's reply of tool calls alone is an error of its own",
    answer: () => Response.json({ content: "", tool_calls: [{ name: "weather", args: {} }] }),
    expected: { ...failed, finish_reason: null },
    code: "tool_calls_only",
  },
  {
    what: "an agent's message among events is its reply",
    answer: () => asEvents([{ text: "Par" }, { type: "ai", content: "Paris" }]),
    expected: { agent_reply: "Paris", finish_reason: null },
  },
];

const lastText = ({ body: { messages } }: ReceivedRequest): string => messages.at(-1).content;

/** Evaluates one conversation, with a turn for each case. */
async function evaluateCases(protocol: "openai" | "agent", cases: Case[]) {
  await using double = await startProviderDouble((request) =>
    cases[Number(lastText(request))]!.answer()
  );
  const { service } = evalService(undefined, { target: endpointTarget(protocol, double) });
  const interactions = cases.map((_, index) => ({ id: `${index}`, user_message: `${index}` }));
  const { results } = await evaluateWith(
    service,
    evaluateBody({ test_batch: { id: "s", interactions } }),
  );
  return {
    turns: results.scenarios[0]!.attempts[0]!.interactions,
    counts: results,
    requests: double.requests,
  };
}

const CASES = { openai: OPENAI, agent: AGENT };
const evaluated: Partial<Record<keyof typeof CASES, ReturnType<typeof evaluateCases>>> = {};

/** Once for all tests. */
const evaluate = (protocol: keyof typeof CASES) =>
  evaluated[protocol] ??= evaluateCases(protocol, CASES[protocol]);

for (const protocol of ["openai", "agent"] as const) {
  for (const [index, { what, expected, code }] of CASES[protocol].entries()) {
    Deno.test(what, async () => {
      const { turns } = await evaluate(protocol);
      const { agent_reply, finish_reason, truncated, reasoning, error } = turns[index]!;
      const seen: Case["expected"] = { agent_reply, finish_reason, truncated, reasoning };
      assertEquals(seen, { truncated: undefined, reasoning: undefined, ...expected });
      assertEquals(error?.code, code);
    });
  }
}

Deno.test("what a textless reply has instead of text is said", async () => {
  const { turns } = await evaluate("openai");
  assertEquals([turns[3]!.error!.status, turns[4]!.error!.status], [400, 200]);
  assertStringIncludes(turns[3]!.error!.detail, "filtered due to the prompt");
  assertStringIncludes(turns[4]!.error!.detail, 'finish_reason "tool_calls"');
  assertStringIncludes(turns[4]!.error!.detail, '"weather"');
});

Deno.test("reasoning and textless replies are never sent back as history", async () => {
  const { requests, turns } = await evaluate("openai");
  const history: { role: string; content: string }[] = requests.at(-1)!.body.messages;
  const said = history.filter(({ role }) => role === "assistant").map(({ content }) => content);
  assertEquals(said, turns.filter(({ error }) => !error).map((turn) => turn.agent_reply));
  assertEquals(said.some((content) => content.includes("France")), false);
});

Deno.test("a run counts the replies that were cut off", async () => {
  assertEquals((await evaluate("openai")).counts.truncated, 2);
});

/** The tool calls of an answer whose body this is. */
async function readCalls(text: string) {
  const response = new Response(text, { headers: { "content-type": "text/event-stream" } });
  const clock = startCallClock(10_000);
  const { toolCalls } = await readAnyReply(response, { model: "m", clock }).finally(clock.stop);
  return toolCalls.map(({ name, arguments: args }) => [name, args]);
}

/** The tool calls of an answer that came as events, each as its name and its arguments. */
async function callsOf(pieces: Record<string, unknown>[]): Promise<unknown[]> {
  const deltas = [...pieces.map((piece) => ({ tool_calls: [piece] })), {}];
  const events = deltas.map((delta, at) => ({
    choices: [{ delta, finish_reason: at === pieces.length ? "tool_calls" : null }],
  }));
  const text = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
  return await readCalls(text);
}

const WEATHER = { name: "get_weather", arguments: '{"city":"Oslo"}' };
const TIME = { name: "get_time", arguments: "{}" };
const EXPECTED = [["get_weather", '{"city":"Oslo"}'], ["get_time", "{}"]];

Deno.test("tool calls of an answer in events stay apart if all have the index 0", async () => {
  const named = [
    { index: 0, id: "a", function: WEATHER },
    { index: 0, id: "b", function: TIME },
  ];
  assertEquals(await callsOf(named), EXPECTED);
  const nameless = named.map(({ id: _, ...piece }) => piece);
  assertEquals(await callsOf(nameless), EXPECTED);
});

Deno.test("pieces without an index continue the call before them", async () => {
  const pieces = [
    { id: "a", function: { name: "get_weather", arguments: '{"city":' } },
    { function: { arguments: '"Oslo"}' } },
    { id: "b", function: TIME },
  ];
  assertEquals(await callsOf(pieces), EXPECTED);
});

Deno.test("a name that comes with every piece is the call's name once", async () => {
  const pieces = ['{"city":', '"Oslo"}'].map((text) => ({
    index: 0,
    id: "a",
    function: { name: "get_weather", arguments: text },
  }));
  assertEquals(await callsOf([...pieces, { index: 1, id: "b", function: TIME }]), EXPECTED);
});

Deno.test("a function_call in events, as servers of 2023 answer, is a tool call, and blank events are none", async () => {
  const deltas = [
    { function_call: { name: "get_weather", arguments: '{"city":' } },
    { function_call: { arguments: '"Oslo"}' } },
  ];
  const events = [...deltas.map((delta) => ({ choices: [{ delta }] })), {
    choices: [{ delta: {}, finish_reason: "function_call" }],
  }];
  const text = events.map((event) => `data:\n\ndata: ${JSON.stringify(event)}\n\n`).join("");
  assertEquals(await readCalls(text), EXPECTED.slice(0, 1));
});

/** One turn over real HTTP, with a check of its tokens and a price. */
async function readUsage(protocol: "openai" | "agent", answer: Record<string, unknown>) {
  await using double = await startProviderDouble(() => Response.json(answer));
  const target = priceTarget(endpointTarget(protocol, double), {
    input: 3,
    output: 15,
    currency: "USD",
  });
  const { service } = evalService(undefined, { target });
  const checks = [{ type: "max_output_tokens", value: 5 }];
  const { results } = await evaluateWith(
    service,
    evaluateBody({
      test_batch: { id: "s", interactions: [{ id: "i", user_message: "?", checks }] },
    }),
  );
  const { usage, cost, check_results } = results.scenarios[0]!.attempts[0]!.interactions[0]!;
  return { usage, cost, check: check_results![0]!.value, unknown: results.cost!.unknown };
}

const completion = (usage: unknown) => ({
  choices: [{ message: { role: "assistant", content: "Paris" }, finish_reason: "stop" }],
  usage,
});
const message = (usage_metadata: unknown) => ({ type: "ai", content: "Paris", usage_metadata });
const notCounted = { usage: null, cost: null, check: 0 as const, unknown: 1 };

Deno.test("an agent that was not told the tokens sends zeros: the cost is unknown, not 0", async () => {
  const zeros = { input_tokens: 0, output_tokens: 0, total_tokens: 0 };
  assertEquals(await readUsage("agent", message(zeros)), notCounted);
  const counted = { input_tokens: 1_000, output_tokens: 6, total_tokens: 1_006 };
  assertEquals(await readUsage("agent", message(counted)), {
    usage: counted,
    cost: { amount: 0.00309, currency: "USD" },
    check: 0,
    unknown: 0,
  });
});

Deno.test("so it is for an endpoint that sends zeros, -1 or the total alone", async () => {
  const unknown = [
    { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 },
    { prompt_tokens: -1, completion_tokens: -1, total_tokens: -1 },
    { total_tokens: 12 },
  ];
  for (const usage of unknown) {
    assertEquals(await readUsage("openai", completion(usage)), notCounted);
  }
});

Deno.test("less than no tokens are not counted", async () => {
  const { usage } = await readUsage(
    "openai",
    completion({ prompt_tokens: 9, completion_tokens: -2, total_tokens: 7 }),
  );
  assertEquals(usage, { input_tokens: 9, output_tokens: 0, total_tokens: 7 });
  const tokens = { input_tokens: 9, output_tokens: -2, total_tokens: 7 };
  assertEquals(await readUsage("agent", message(tokens)), notCounted);
});

/** The error of an evaluation's only turn at an endpoint that always answers this. */
async function errorOf(answer: Answer, environment: Record<string, string> = {}) {
  await using double = await startProviderDouble(answer);
  const { service } = wiredService(environment);
  const test_batch = { id: "s", interactions: [{ id: "i", user_message: "Hi" }] };
  const response = await service(
    evaluateRequestOf({ test_batch, endpoint: double.baseUrl, model_id: "m" }),
  );
  const { results } = await response.json();
  const [turn] = results.scenarios[0].attempts[0].interactions;
  assertStringIncludes(turn.agent_reply, "Request failed");
  return turn.error;
}

Deno.test("a failed turn has the endpoint's own words, without the configured secrets", async () => {
  const secret = "eval-secret-key";
  const message = `maximum context length is 8192 tokens ${secret} ${"x".repeat(3000)}`;
  const error = await errorOf(json({ error: { message } }, { status: 400 }), {
    EVAL_API_KEY: secret,
  });
  assertEquals([error.code, error.status], ["provider_refused", 400]);
  assertStringIncludes(
    error.detail,
    "refused by the provider (400): maximum context length is 8192",
  );
  assertEquals(error.detail.includes(secret), false);
  assertEquals(error.detail.length < 2200, true);
});

Deno.test("a 401 without a credential names the variables to set", async () => {
  const error = await errorOf(raw("", { status: 401 }));
  assertEquals(error.code, "provider_auth");
  assertStringIncludes(error.detail, "none is configured; set EVAL_CREDENTIALS");
});

Deno.test("an unreadable answer is shown by its status, content type and first characters", async () => {
  const page = raw("<h1>Sign in</h1>", { headers: { "content-type": "text/html" } });
  const error = await errorOf(page);
  assertStringIncludes(error.detail, '(status 200, text/html, begins with "<h1>Sign in</h1>")');
});

Deno.test("the text of an unreadable answer of a model is not quoted", async () => {
  const half = 'data: {"choices":[{"delta":{"content":"a private matter"}}]}\n\ndata: oops\n\n';
  const error = await errorOf(raw(half, { headers: { "content-type": "text/event-stream" } }));
  assertEquals(error.code, "provider_error");
  assertStringIncludes(error.detail, "(status 200, text/event-stream, not shown: ");
  assertEquals(error.detail.includes("private"), false);
});

for (const [where, rest] of [["after an event", "\n\n"], ["within an event", '\n\ndata: {"cho']]) {
  Deno.test(`events that end too early, ${where}, are a closed connection, not an unreadable answer`, async () => {
    const half = `data: {"choices":[{"delta":{"content":"a private matter"}}]}${rest}`;
    const error = await errorOf(raw(half, { headers: { "content-type": "text/event-stream" } }));
    assertEquals(error.code, "provider_error");
    const reason = "the connection was closed before the answer was complete";
    assertStringIncludes(error.detail, reason);
  });
}

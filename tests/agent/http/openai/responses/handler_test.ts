import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { ProviderError } from "../../../../../shared/providers/provider.ts";
import { readEvents } from "../../../../fakes/events.ts";
import { providerOf } from "../../../../fakes/openai_provider.ts";
import { keyOf, KEYS, openAIRoutes, SUM, USAGE } from "../../../../fakes/openai_routes.ts";
import { json, sse, startProviderDouble } from "../../../../fakes/provider_double.ts";
import { createScriptedProvider, type Step } from "../../../../fakes/scripted_provider.ts";

function serve(...steps: Step[]) {
  const provider = createScriptedProvider(...steps);
  const { post } = openAIRoutes(provider, { environment: KEYS });
  const ask = (body: Record<string, unknown>, caller = "ada") =>
    post("responses", { input: "Hi", ...body }, keyOf(caller));
  return { provider, ask };
}

Deno.test("a response is the agent's answer, with the cost of the whole run", async () => {
  const { ask } = serve(SUM, { content: "It is 4.", usage: USAGE });
  const response = await ask({ instructions: "Be brief.", metadata: { team: "a" } });
  assertEquals(response.headers.get("x-agent-tool-calls"), "1");
  const { id, created_at, completed_at, output, usage, ...body } = await response.json();
  assertMatch(id, /^resp_[0-9a-f]{32}$/);
  assert(Number.isInteger(created_at) && completed_at >= created_at);
  const [{ id: itemId, ...item }, ...more] = output;
  assertMatch(itemId, /^msg_/);
  assertEquals(item, {
    type: "message",
    status: "completed",
    role: "assistant",
    content: [{ type: "output_text", text: "It is 4.", annotations: [], logprobs: [] }],
  });
  assertEquals(more, []);
  assertEquals(usage, {
    input_tokens: 20,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: 4,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 24,
  });
  assertEquals(body, {
    object: "response",
    status: "completed",
    background: false,
    error: null,
    incomplete_details: null,
    instructions: "Be brief.",
    max_output_tokens: null,
    model: "a/b",
    parallel_tool_calls: true,
    previous_response_id: null,
    reasoning: { effort: null, summary: null },
    frequency_penalty: 0,
    max_tool_calls: null,
    presence_penalty: 0,
    prompt_cache_key: null,
    safety_identifier: null,
    service_tier: "default",
    store: false,
    temperature: 1,
    text: { format: { type: "text" } },
    tool_choice: "auto",
    tools: [],
    top_logprobs: 0,
    top_p: 1,
    truncation: "disabled",
    metadata: { team: "a" },
  });
});

Deno.test("a streamed response has OpenAI's events in their order, each with its number", async () => {
  const { ask } = serve(SUM, { content: "It is 4.", usage: USAGE });
  const events = await Array.fromAsync(readEvents(await ask({ stream: true })));
  const message = (words: number) => [
    "response.output_item.added",
    "response.content_part.added",
    ...Array(words).fill("response.output_text.delta"),
    "response.output_text.done",
    "response.content_part.done",
    "response.output_item.done",
  ];
  assertEquals(events.map(({ event }) => event), [
    "response.created",
    "response.in_progress",
    ...message(3), // the text before the agent's tool call is a message of its own
    ...message(3),
    "response.completed",
  ]);
  assertEquals(events.map(({ data }) => data.sequence_number), [...events.keys()]);
  for (const { event, data } of events) assertEquals(data.type, event);
  const ids = new Set(events.flatMap(({ data }) => data.response?.id ?? []));
  assertEquals(ids.size, 1);
  const { response } = events.at(-1)!.data;
  assertEquals(response.output.map(({ content }: { content: { text: string }[] }) => content[0]), [
    { type: "output_text", text: "Let me see.", annotations: [], logprobs: [] },
    { type: "output_text", text: "It is 4.", annotations: [], logprobs: [] },
  ]);
  assertEquals(response.usage.total_tokens, 24);
  assertEquals(response.agent.model_calls, 2);
});

Deno.test("a reply that was cut off is an incomplete response", async () => {
  const ends = [["length", "max_output_tokens"], ["content_filter", "content_filter"]];
  for (const [finishReason, reason] of ends) {
    const { ask } = serve({ content: "It", finishReason: finishReason! });
    const { status, incomplete_details, output } = await (await ask({})).json();
    assertEquals([status, incomplete_details, output[0].status], [
      "incomplete",
      { reason },
      "incomplete",
    ]);
    const events = await Array.fromAsync(readEvents(await ask({ stream: true })));
    assertEquals(events.at(-1)?.event, "response.incomplete");
  }
});

Deno.test("a refusal is a part of its own kind", async () => {
  const { ask } = serve({ content: null, refusal: "I will not." });
  const { output } = await (await ask({})).json();
  assertEquals(output[0].content, [{ type: "refusal", refusal: "I will not." }]);
  const events = await Array.fromAsync(readEvents(await ask({ stream: true })));
  const kinds = events.map(({ event }) => event).filter((event) => event.includes("refusal"));
  assertEquals(kinds, ["response.refusal.delta", "response.refusal.done"]);
});

Deno.test("a plain response has the model's tool calls as items", async () => {
  const toolCalls = [
    { id: "c1", name: "f", arguments: '{"x":1}' },
    { id: "c2", name: "f", arguments: '{"x":2}' },
  ];
  const tools = [{ type: "function", name: "f", description: null, parameters: {}, strict: true }];
  const { ask, provider } = serve({ content: null, toolCalls });
  const { output } = await (await ask({ model: "a/b:plain", tools })).json();
  const offered: unknown = provider.requests[0]?.tools;
  assertEquals(offered, [{ name: "f", parameters: {}, strict: true }]);
  const called = { type: "function_call", status: "completed", name: "f" };
  assertEquals(output.map(({ id: _, call_id: __, ...item }: Record<string, unknown>) => item), [
    { ...called, arguments: '{"x":1}' },
    { ...called, arguments: '{"x":2}' },
  ]);
  const events = await Array.fromAsync(
    readEvents(await ask({ model: "a/b:plain", tools, stream: true })),
  );
  const done = events.filter(({ event }) => event === "response.function_call_arguments.done");
  assertEquals(done.map(({ data }) => data.arguments), ['{"x":1}', '{"x":2}']);
});

Deno.test("an item of an earlier response may be named by its id", async () => {
  const { ask, provider } = serve({ content: "I am Ada." });
  const { output: [{ id }] } = await (await ask({})).json();
  const input = [
    { role: "user", content: "Who are you?" },
    { type: "item_reference", id },
    { role: "user", content: "Really?" },
  ];
  await ask({ input });
  const texts = provider.requests.at(-1)!.messages.map(({ content }) => content);
  assertEquals(texts.slice(-3), ["Who are you?", "I am Ada.", "Really?"]);

  const unknown = await ask({ input: [{ type: "item_reference", id: "msg_x" }] });
  const { error } = await unknown.json();
  assertEquals([unknown.status, error.code, error.param], [400, "invalid_request", "input.0"]);
  assertStringIncludes(error.message, "send the item itself");
});

/** The first item of a response, by its id. */
async function referenceTo(answer: Response, isStream: boolean) {
  const body = isStream
    ? (await Array.fromAsync(readEvents(answer))).at(-1)!.data.response
    : await answer.json();
  return { type: "item_reference", id: body.output[0].id };
}

Deno.test("with store: false no item is kept", async () => {
  const { ask } = serve({ content: "I am Ada." });
  for (const stream of [false, true]) {
    const input = [await referenceTo(await ask({ stream, store: false }), stream)];
    assertEquals((await ask({ input })).status, 400);
  }
});

Deno.test("an item cannot be named by a caller with another key", async () => {
  const { ask } = serve({ content: "I am Ada." });
  for (const stream of [false, true]) {
    const input = [await referenceTo(await ask({ stream }), stream)];
    assertEquals((await ask({ input }, "bob")).status, 400);
    assertEquals((await ask({ input }, "ada")).status, 200);
  }
});

Deno.test("a stream that fails in the middle ends with an error and response.failed", async () => {
  const error = new ProviderError(502, "provider_error", "gone", { kind: "unreachable" });
  const events = await Array.fromAsync(readEvents(await serve(SUM, error).ask({ stream: true })));
  const [told, failed] = events.slice(-2);
  assertEquals(told?.data, {
    type: "error",
    sequence_number: events.length - 2,
    code: "provider_error",
    message: "gone",
    param: null,
  });
  assertEquals(failed?.event, "response.failed");
  assertEquals(failed?.data.response.error, { code: "provider_error", message: "gone" });
});

Deno.test("what cannot be done is refused with the field and what to do, before any call", async () => {
  const cases: [Record<string, unknown>, string, string][] = [
    [{ previous_response_id: "resp_1" }, "unsupported_parameter", "previous_response_id"],
    [{ conversation: "conv_1" }, "unsupported_parameter", "conversation"],
    [{ prompt: { id: "p" } }, "unsupported_parameter", "prompt"],
    [{ background: true }, "unsupported_parameter", "background"],
    [{ tools: [{ type: "web_search" }] }, "unsupported_parameter", "tools.0.type"],
    [{ tool_choice: { type: "file_search" } }, "unsupported_parameter", "tool_choice"],
    [{ input: [] }, "invalid_request", "input"],
    [{ input: undefined }, "invalid_request", "input"],
    [{ input: [{ type: "computer_call" }] }, "invalid_request", "input.0.type"],
    [{ input: [{ role: "wizard", content: "" }] }, "invalid_request", "input.0.role"],
    [
      { input: [{ role: "user", content: [{ type: "hologram" }] }] },
      "unsupported_parameter",
      "input.0.content.0.type",
    ],
    [{ max_output_tokens: 0 }, "invalid_request", "max_output_tokens"],
    [{ model: "gpt-4o" }, "invalid_model_id", "model"],
  ];
  for (const [body, code, param] of cases) {
    const { provider, ask } = serve({});
    const response = await ask(body);
    const { error } = await response.json();
    assertEquals([response.status, error.code, error.param], [400, code, param]);
    assertEquals(provider.requests, []);
  }
  const busy = new ProviderError(429, "rate_limited", "busy", { kind: "status", status: 429 });
  for (const stream of [false, true]) {
    assertEquals((await serve(busy).ask({ stream })).status, 429);
  }
});

Deno.test("an input of system messages only is answered", async () => {
  const { ask, provider } = serve({ content: "Knock, knock." });
  const response = await ask({ input: [{ role: "developer", content: "Tell a joke." }] });
  assertEquals(response.status, 200);
  await response.body?.cancel();
  assertEquals(provider.requests[0]?.messages.map(({ role }) => role), ["system", "user"]);
});

Deno.test("the error for a blank input names the input", async () => {
  const { ask } = serve();
  const response = await ask({ input: " " });
  const { error } = await response.json();
  assertEquals([response.status, error.param], [400, "input"]);
  assertEquals(
    error.message,
    "cannot use the request body: input: at least one message must not be blank",
  );
});

const DETAILS = [{ type: "reasoning.encrypted", data: "xyz" }];
const FIELDS = { reasoning_content: "It is a greeting.", reasoning_details: DETAILS };

/** A chunk of a stream. */
const delta = (fields: unknown, finish_reason: string | null = null) => ({
  choices: [{ index: 0, delta: fields, finish_reason }],
});

/** A model that thinks, and whose provider wants its fields back. */
async function serveReasoning() {
  const message = { role: "assistant", content: "Hello!", ...FIELDS };
  const double = await startProviderDouble((request) => {
    if (!request.body.stream) {
      return json({ choices: [{ index: 0, message, finish_reason: "stop" }] })(request);
    }
    return sse([
      delta({ reasoning_content: "It is " }),
      delta({ reasoning_content: "a greeting.", reasoning_details: DETAILS }),
      delta({ content: "Hello!" }),
      delta({}, "stop"),
    ])(request);
  });
  const { post } = openAIRoutes(providerOf(double));
  const ask = (body: Record<string, unknown>) =>
    post("responses", { model: "acme/m", input: "Hi", ...body });
  /** The output of a response, streamed or not. */
  async function outputOf(body: Record<string, unknown>) {
    const response = await ask(body);
    if (!body.stream) return (await response.json()).output;
    const events = await Array.fromAsync(readEvents(response));
    return events.at(-1)!.data.response.output;
  }
  return { double, ask, outputOf, [Symbol.asyncDispose]: () => double[Symbol.asyncDispose]() };
}

Deno.test("what a model thinks is the summary of a reasoning item, before its message", async () => {
  await using service = await serveReasoning();
  for (const stream of [false, true]) {
    const [reasoning, message] = await service.outputOf({ stream });
    const { id: _, ...shown } = reasoning;
    const summary = [{ type: "summary_text", text: FIELDS.reasoning_content }];
    assertEquals(shown, { type: "reasoning", summary });
    assertEquals(message.content[0].text, "Hello!");
  }
  const events = await Array.fromAsync(readEvents(await service.ask({ stream: true })));
  const kinds = events.map(({ event }) => event).filter((event) => event.includes("reasoning"));
  assertEquals(kinds, [
    "response.reasoning_summary_part.added",
    "response.reasoning_summary_text.delta",
    "response.reasoning_summary_text.delta",
    "response.reasoning_summary_text.done",
    "response.reasoning_summary_part.done",
  ]);
});

Deno.test("thoughts that come as parts of the content are reasoning too", async () => {
  const thinking = [{ type: "text", text: "It is a greeting." }];
  const content = [{ type: "thinking", thinking }, { type: "text", text: "Hello!" }];
  await using double = await startProviderDouble(
    json({
      choices: [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }],
    }),
  );
  const { post } = openAIRoutes(providerOf(double));
  const response = await post("responses", { model: "mistral/m", input: "Hi" });
  const { output } = await response.json();
  assertEquals(output.map(({ type }: { type: string }) => type), ["reasoning", "message"]);
  assertEquals(output[0].summary, [{ type: "summary_text", text: "It is a greeting." }]);
});

Deno.test("sealed reasoning is done before that of the next turn begins", async () => {
  const called = { name: "calculator", arguments: '{"expression":"1+1"}' };
  await using double = await startProviderDouble([
    sse([
      delta({ reasoning_content: "I should look it up." }),
      delta({ tool_calls: [{ index: 0, id: "c1", type: "function", function: called }] }),
      delta({}, "tool_calls"),
    ]),
    sse([
      delta({ reasoning_content: "That is all." }),
      delta({ content: "2" }),
      delta({}, "stop"),
    ]),
  ]);
  const { post } = openAIRoutes(providerOf(double));
  const include = ["reasoning.encrypted_content"];
  const body = { model: "acme/m", input: "1+1?", stream: true, include };
  const events = await Array.fromAsync(readEvents(await post("responses", body)));
  assertEquals(
    events.filter(({ data }) => data.item?.type === "reasoning")
      .map(({ event, data }) => `${data.output_index} ${event.split(".").at(-1)}`),
    ["0 added", "0 done", "1 added", "1 done"],
  );
});

Deno.test("the provider gets its fields back, by the item itself or by its id", async () => {
  await using service = await serveReasoning();
  const include = ["reasoning.encrypted_content"];
  for (const stream of [false, true]) {
    const sealed = await service.outputOf({ stream, include });
    const kept = await service.outputOf({ stream });
    const references = kept.map(({ id }: { id: string }) => ({ type: "item_reference", id }));
    for (const items of [sealed, references]) {
      const input = [{ role: "user", content: "Hi" }, ...items, { role: "user", content: "Ho" }];
      await service.ask({ input });
      const { messages } = service.double.requests.at(-1)!.body;
      const { role: _, ...sent } = messages.find(({ role }: { role: string }) =>
        role === "assistant"
      );
      assertEquals(sent, { content: "Hello!", ...FIELDS });
    }
  }
});

/** A call as Gemini sends it, with the signature that it wants back. */
const CALL = {
  id: "c1",
  type: "function",
  function: { name: "f", arguments: '{"x":1}' },
  extra_content: { google: { thought_signature: "sig" } },
};

Deno.test("a plain call keeps the fields of its provider, by the item itself or by its id", async () => {
  const choice = (fields: unknown) => ({ choices: [{ index: 0, ...fields as object }] });
  const finish_reason = "tool_calls";
  await using double = await startProviderDouble((request) => {
    const message = { role: "assistant", content: null, tool_calls: [CALL] };
    if (!request.body.stream) return json(choice({ message, finish_reason }))(request);
    const delta = { tool_calls: [{ ...CALL, index: 0 }] };
    return sse([choice({ delta }), choice({ delta: {}, finish_reason })])(request);
  });
  const { post } = openAIRoutes(providerOf(double));
  const asked = { role: "user", content: "Hi" };
  const tools = [{ type: "function", name: CALL.function.name }];
  const send = (items: unknown[], { model = "google/m", stream = false } = {}) =>
    post("responses", { model: `${model}:plain`, input: [asked, ...items], tools, stream });

  for (const stream of [false, true]) {
    const response = await send([], { stream });
    const body = stream
      ? (await Array.fromAsync(readEvents(response))).at(-1)!.data.response
      : await response.json();
    const [item] = body.output;
    const { extra_content, from_model, ...known } = item;
    assertEquals([extra_content, from_model], [CALL.extra_content, "google/m"]);
    const result = { type: "function_call_output", call_id: item.call_id, output: "1" };
    const sentBack = async (call: unknown, model = "google/m") => {
      await send([call, result], { model });
      return double.requests.at(-1)!.body.messages[1].tool_calls[0];
    };
    assertEquals(await sentBack(item), CALL);
    assertEquals(await sentBack(known), CALL); // the client dropped what it does not know
    assertEquals(await sentBack({ type: "item_reference", id: item.id }), CALL);
    const { extra_content: _, ...bare } = CALL;
    assertEquals(await sentBack({ ...known, id: null }), CALL); // the run is known by the call
    assertEquals(await sentBack(item, "openai/m"), { ...bare, id: "call00001" });
  }
});

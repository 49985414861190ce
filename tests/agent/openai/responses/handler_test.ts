import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { ProviderError } from "../../../../shared/providers/provider.ts";
import { readEvents } from "../../../fakes/events.ts";
import { keyOf, KEYS, openAIRoutes, SUM, USAGE } from "../../../fakes/openai_routes.ts";
import { createScriptedProvider, type Step } from "../../../fakes/scripted_provider.ts";

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
    service_tier: null,
    store: false,
    temperature: null,
    text: { format: { type: "text" } },
    tool_choice: "auto",
    tools: [],
    top_logprobs: 0,
    top_p: null,
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
  assertEquals(provider.requests[0]?.extra?.tools, [
    { type: "function", function: { name: "f", parameters: {}, strict: true } },
  ]);
  assertEquals(output.map(({ id: _, ...item }: { id: string }) => item), [
    { type: "function_call", status: "completed", call_id: "c1", name: "f", arguments: '{"x":1}' },
    { type: "function_call", status: "completed", call_id: "c2", name: "f", arguments: '{"x":2}' },
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

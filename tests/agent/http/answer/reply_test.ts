import { assertEquals, assertMatch, assertNotEquals } from "@std/assert";
import { AgentReply } from "../../../../agent/core/agent_message.ts";
import { NOT_UTF8 } from "../../../../shared/providers/provider.ts";
import { agentRequestOf, agentService } from "../../../fakes/agent_service.ts";
import { openAIRoutes } from "../../../fakes/openai_routes.ts";
import { createScriptedProvider, type Step } from "../../../fakes/scripted_provider.ts";

const USAGE = {
  promptTokens: 12,
  completionTokens: 3,
  totalTokens: 15,
  promptDetails: null,
  completionDetails: null,
};

const BODY = { messages: [{ type: "human", content: "Hi" }] };

/** The body of an answer of `POST /`. */
async function replyOf(step: Step, headers: Record<string, string> = {}): Promise<AgentReply> {
  const { service } = agentService(createScriptedProvider(step));
  return await (await service(agentRequestOf(BODY, { headers }))).json();
}

Deno.test("the reply has all keys of a LangChain AI message, in its order", async () => {
  const reply = await replyOf({ content: "Hi", usage: USAGE, systemFingerprint: "fp" });
  assertEquals(
    JSON.stringify({ ...reply, id: "run--x-0" }),
    '{"content":"Hi","additional_kwargs":{"refusal":null},"response_metadata":{"token_usage":' +
      '{"completion_tokens":3,"prompt_tokens":12,"total_tokens":15,' +
      '"completion_tokens_details":null,"prompt_tokens_details":null},"model_name":"test/model",' +
      '"system_fingerprint":"fp","id":"cmpl-1","service_tier":null,"finish_reason":"stop",' +
      '"logprobs":null},"type":"ai","name":null,"id":"run--x-0","example":false,"tool_calls":[],' +
      '"invalid_tool_calls":[],"usage_metadata":{"input_tokens":12,"output_tokens":3,' +
      '"total_tokens":15,"input_token_details":{},"output_token_details":{}}}',
  );
});

Deno.test("fields that the provider left out are null or zero, never missing", async () => {
  const reply = await replyOf({ id: null, content: "Hi", finishReason: null });
  assertEquals(reply.response_metadata, {
    token_usage: {
      completion_tokens: 0,
      prompt_tokens: 0,
      total_tokens: 0,
      completion_tokens_details: null,
      prompt_tokens_details: null,
    },
    model_name: "test/model",
    system_fingerprint: null,
    id: null,
    service_tier: null,
    finish_reason: null,
    logprobs: null,
  });
  assertEquals(AgentReply.parse(reply), reply);
});

Deno.test("the id is generated and new each time", async () => {
  const [first, second] = [await replyOf({}), await replyOf({})];
  assertMatch(first.id, /^run--[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}-0$/);
  assertNotEquals(first.id, second.id);
});

Deno.test("token details contain only what the provider sent, also a 0", async () => {
  const cases: [Record<string, number> | null, Record<string, number>][] = [
    [null, {}],
    [{}, {}],
    [{ cached_tokens: 0 }, { cache_read: 0 }],
    [{ audio_tokens: 2, cached_tokens: 5, other: 1 }, { audio: 2, cache_read: 5 }],
  ];
  for (const [promptDetails, expected] of cases) {
    const reply = await replyOf({ usage: { ...USAGE, promptDetails } });
    assertEquals(reply.usage_metadata.input_token_details, expected);
    assertEquals(reply.response_metadata.token_usage.prompt_tokens_details, promptDetails);
  }
  const completionDetails = { reasoning_tokens: 0, audio_tokens: 4 };
  const reply = await replyOf({ usage: { ...USAGE, completionDetails } });
  assertEquals(reply.usage_metadata.output_token_details, { audio: 4, reasoning: 0 });
  assertEquals(reply.response_metadata.token_usage.completion_tokens_details, completionDetails);
});

Deno.test("a message with tool calls contains them unparsed, before the refusal", async () => {
  const texts = ['{"zone":"UTC"}', '{"zone":', "[1]"];
  const reply = await replyOf({
    toolCalls: texts.map((text, index) => ({
      id: `c${index}`,
      name: "current_time",
      arguments: text,
    })),
  }, { "x-agent-approve": "tools" });
  assertEquals(Object.keys(reply.additional_kwargs), ["tool_calls", "refusal"]);
  const [call] = reply.additional_kwargs.tool_calls!;
  assertEquals(call, {
    id: call!.id,
    type: "function",
    function: { name: "current_time", arguments: '{"zone":"UTC"}' },
  });
  assertEquals(reply.tool_calls, [
    { name: "current_time", args: { zone: "UTC" }, id: call!.id, type: "tool_call" },
  ]);
  assertEquals(
    reply.invalid_tool_calls.map(({ args, type }) => ({ args, type })),
    [
      { args: '{"zone":', type: "invalid_tool_call" },
      { args: "[1]", type: "invalid_tool_call" },
    ],
  );
});

Deno.test("a refusal is passed on", async () => {
  const reply = await replyOf({ content: null, refusal: "I can't." });
  assertEquals(reply.additional_kwargs, { refusal: "I can't." });
  assertEquals(reply.content, "");
});

const WHOLE_USAGE = {
  promptTokens: 10,
  completionTokens: 2,
  totalTokens: 12,
  promptDetails: null,
  completionDetails: null,
};
const sum = (expression: string) => ({
  toolCalls: [{ id: "", name: "calculator", arguments: JSON.stringify({ expression }) }],
  usage: WHOLE_USAGE,
});

Deno.test("headers count the whole run, the body its last model call", async () => {
  const provider = createScriptedProvider(sum("1+1"), sum("2+2"), {
    content: "4",
    usage: WHOLE_USAGE,
  });
  const response = await agentService(provider).service(agentRequestOf(BODY));
  const header = (name: string) => response.headers.get(name);
  assertEquals(
    ["model", "model-calls", "tool-calls", "input-tokens", "output-tokens", "stopped"]
      .map((name) => header(`x-agent-${name}`)),
    ["a/b", "3", "2", "30", "6", null],
  );
  assertMatch(header("server-timing") ?? "", /^model;dur=[\d.]+, tools;dur=[\d.]+$/);
  assertEquals(header("x-history-repairs"), null);
  assertEquals((await response.json()).usage_metadata.input_tokens, 10);
});

Deno.test("a run that ended at the step limit is marked, and keeps the provider's finish_reason", async () => {
  const provider = createScriptedProvider(sum("1+1"), { content: "2", finishReason: "length" });
  const { service } = agentService(provider, { environment: { AGENT_MAX_STEPS: "1" } });
  const response = await service(agentRequestOf(BODY));
  assertEquals(response.headers.get("x-agent-stopped"), "max_steps");
  assertEquals((await response.json()).response_metadata.finish_reason, "length");
});

Deno.test("repairs of the history are reported with their counts", async () => {
  const messages = [
    { type: "human", content: "a" },
    { type: "human", content: " " },
    { type: "human", content: "" },
    { type: "tool", content: "12:00" },
  ];
  const { service } = agentService(createScriptedProvider({}));
  const response = await service(agentRequestOf({ messages }));
  assertEquals(response.headers.get("x-history-repairs"), "paired=1, dropped=2");
});

Deno.test("the latest 200 messages are sent, after the system prompt", async () => {
  const provider = createScriptedProvider({});
  const environment = { AGENT_SYSTEM_PROMPT: "Be." };
  const messages = Array.from({ length: 102 }, (_, turn) => [
    { type: "human", content: `q${turn}` },
    { type: "ai", content: `a${turn}` },
  ]).flat();
  const { service } = agentService(provider, { environment });
  const response = await service(agentRequestOf({ messages }));
  const sent = provider.requests[0]?.messages.map(({ content }) => content);
  assertEquals([sent?.length, sent?.[0], sent?.[1], sent?.at(-1)], [201, "Be.", "q2", "a101"]);
  assertEquals(response.headers.get("x-history-repairs"), "cut=4");
});

Deno.test("a reply that was not UTF-8 is marked, with and without streaming", async () => {
  const provider = createScriptedProvider({ content: "gr\uFFFDn", encoding: NOT_UTF8 });
  const { service } = agentService(provider);
  const whole = await service(agentRequestOf(BODY));
  assertEquals(whole.headers.get("x-agent-reply-encoding"), "not utf-8");
  const accept = { accept: "text/event-stream" };
  const events = await (await service(agentRequestOf(BODY, { headers: accept }))).text();
  assertMatch(events, /event: done\ndata: .*"reply_encoding":"not utf-8"/);
});

Deno.test("a model id with any characters has a header value", async () => {
  const { post } = openAIRoutes(createScriptedProvider({}));
  const messages = [{ role: "user", content: "Hi" }];
  const named = async (model: string) =>
    (await post("chat/completions", { model, messages })).headers.get("x-agent-model");
  assertEquals(await named("acme/größe"), "acme/gr%C3%B6%C3%9Fe");
  assertEquals(await named("acme/🦙"), "acme/%F0%9F%A6%99");
  assertEquals(await named("acme/\ud83e"), "acme/%EF%BF%BD");
});

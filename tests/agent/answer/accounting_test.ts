import { assertEquals, assertMatch } from "@std/assert";
import { toHeaderValue } from "../../../agent/answer/accounting.ts";
import { NOT_UTF8 } from "../../../shared/http/body/utf8.ts";
import { agentRequestOf, agentService } from "../../fakes/agent_service.ts";
import { createScriptedProvider } from "../../fakes/scripted_provider.ts";

const BODY = { messages: [{ type: "human", content: "Hi" }] };
const USAGE = {
  promptTokens: 10,
  completionTokens: 2,
  totalTokens: 12,
  promptDetails: null,
  completionDetails: null,
};
const sum = (expression: string) => ({
  toolCalls: [{ id: "", name: "calculator", arguments: JSON.stringify({ expression }) }],
  usage: USAGE,
});

Deno.test("headers count the whole run, the body its last model call", async () => {
  const provider = createScriptedProvider(sum("1+1"), sum("2+2"), { content: "4", usage: USAGE });
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

Deno.test("AGENT_MAX_HISTORY keeps the latest messages after the system prompt", async () => {
  const provider = createScriptedProvider({});
  const environment = { AGENT_MAX_HISTORY: "2", AGENT_SYSTEM_PROMPT: "Be." };
  const messages = ["1", "2", "3"].flatMap((text) => [
    { type: "human", content: `q${text}` },
    { type: "ai", content: `a${text}` },
  ]);
  const { service } = agentService(provider, { environment });
  const response = await service(agentRequestOf({ messages }));
  assertEquals(provider.requests[0]?.messages.map(({ content }) => content), ["Be.", "q3", "a3"]);
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

Deno.test("a model id with any characters has a header value", () => {
  assertEquals(toHeaderValue("acme/größe"), "acme/gr%C3%B6%C3%9Fe");
  assertEquals(toHeaderValue("acme/🦙"), "acme/%F0%9F%A6%99");
  assertEquals(toHeaderValue("acme/\ud83e"), "acme/%EF%BF%BD");
});

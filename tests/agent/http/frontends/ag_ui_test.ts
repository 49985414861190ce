import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { HttpAgent } from "npm:@ag-ui/client@1.0.0";
import { agentService } from "../../../fakes/agent_service.ts";
import { createScriptedProvider, type Step } from "../../../fakes/scripted_provider.ts";

const CALL = { id: "own-1", name: "calculator", arguments: '{"expression":"17 * 23"}' };

/** AG-UI's own client, on the service without a socket. It checks the order of the events. */
function openAgent(...steps: Step[]) {
  const provider = createScriptedProvider(...steps);
  const { service } = agentService(provider);
  const agent = new HttpAgent({
    url: "http://127.0.0.1:8000/ag-ui",
    headers: { "x-model-id": "a/b" },
    fetch: async (url: string, init: RequestInit) => await service(new Request(url, init)),
  });
  agent.addMessage({ id: "u", role: "user", content: "17 * 23?" });
  return { agent, provider };
}

Deno.test("AG-UI's client gets the messages and tool results of a run in their order", async () => {
  const { agent, provider } = openAgent(
    { content: "Let me see.", toolCalls: [CALL] },
    { content: "It is 391." },
  );
  await agent.runAgent({ context: [{ description: "page", value: "shop" }] });
  assertEquals(agent.messages.map(({ role, content }) => [role, content]), [
    ["user", "17 * 23?"],
    ["assistant", "Let me see."],
    ["tool", "391"],
    ["assistant", "It is 391."],
  ]);
  const [system, context] = provider.requests[0]!.messages;
  assertEquals(system!.role, "system");
  assertStringIncludes(String(context!.content), "page: shop");

  agent.addMessage({ id: "u2", role: "user", content: "Thanks" });
  await agent.runAgent();
  assertEquals(provider.requests.at(-1)!.messages.map(({ role }) => role), [
    "system",
    "user",
    "assistant",
    "tool",
    "assistant",
    "user",
  ]);
});

Deno.test("a tool of the page ends the run with its call, and its result continues it", async () => {
  const { agent, provider } = openAgent(
    { toolCalls: [{ id: "1", name: "colour", arguments: '{"name":"red"}' }] },
    { content: "Done." },
  );
  const tools = [{ name: "colour", description: "Paints.", parameters: { type: "object" } }];
  await agent.runAgent({ tools });
  const [call] = (agent.messages.at(-1) as { toolCalls: { id: string }[] }).toolCalls;
  agent.addMessage({ id: "t", role: "tool", toolCallId: call!.id, content: "painted" });
  await agent.runAgent({ tools });
  assertEquals(agent.messages.at(-1)!.content, "Done.");
  assertEquals(provider.requests[1]!.messages.at(-1)!.content, "painted");
});

Deno.test("a run that fails rejects with the words of the problem", async () => {
  const { agent } = openAgent(new Error("secret"));
  const { message } = await assertRejects(() => agent.runAgent(), Error);
  assertStringIncludes(message, "500");
});

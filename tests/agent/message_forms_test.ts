import { assertEquals } from "@std/assert";
import { agentRequestOf, agentService } from "../fakes/agent_service.ts";
import { createScriptedProvider } from "../fakes/scripted_provider.ts";

const constructor = (name: string, kwargs: Record<string, unknown>) => ({
  lc: 1,
  type: "constructor",
  id: ["langchain_core", "messages", name],
  kwargs,
});

const FORMS: Record<string, unknown[]> = {
  "{type, content}": [
    { type: "system", content: "Be kind." },
    { type: "human", content: "Hi" },
    { type: "ai", content: "Hello" },
    { type: "human", content: "Bye" },
  ],
  "{role, content}": [
    { role: "system", content: "Be kind." },
    { role: "user", content: "Hi" },
    { role: "assistant", content: "Hello" },
    { role: "user", content: "Bye" },
  ],
  "tuples": [["system", "Be kind."], ["user", "Hi"], ["ai", "Hello"], ["human", "Bye"]],
  "stored messages": [
    { type: "system", data: { content: "Be kind." } },
    { type: "human", data: { content: "Hi" } },
    { type: "ai", data: { content: "Hello", tool_calls: [] } },
    { type: "human", data: { content: "Bye" } },
  ],
  "messages of JSON.stringify": [
    constructor("SystemMessage", { content: "Be kind." }),
    constructor("HumanMessage", { content: "Hi" }),
    constructor("AIMessageChunk", { content: "Hello" }),
    constructor("HumanMessage", { content: "Bye" }),
  ],
};

for (const [form, messages] of Object.entries(FORMS)) {
  Deno.test(`POST / takes ${form}, and settings beside them`, async () => {
    const provider = createScriptedProvider({ content: "Fine." });
    const { service } = agentService(provider);
    const response = await service(agentRequestOf({ messages, temperature: 0, max_tokens: 9 }));
    assertEquals((await response.json()).content, "Fine.");
    const [request] = provider.requests;
    assertEquals(request?.messages, [
      { role: "system", content: "Be kind." },
      { role: "user", content: "Hi" },
      { role: "assistant", content: "Hello" },
      { role: "user", content: "Bye" },
    ]);
    assertEquals([request?.temperature, request?.maxTokens], [0, 9]);
  });
}

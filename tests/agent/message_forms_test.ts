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

Deno.test("settings stand beside a prompt, too", async () => {
  const provider = createScriptedProvider({ content: "Fine." });
  const { service } = agentService(provider);
  await service(agentRequestOf({ prompt: "Hi", temperature: 0, max_tokens: 9 }));
  const [request] = provider.requests;
  assertEquals([request?.temperature, request?.maxTokens], [0, 9]);
});

Deno.test("fields that have no meaning are named in a header, whole and streamed", async () => {
  for (const accept of ["application/json", "text/event-stream"]) {
    const { service } = agentService(createScriptedProvider({ content: "Fine." }));
    const ignored = async (fields: Record<string, unknown>) => {
      const response = await service(
        agentRequestOf({ prompt: "Hi", ...fields }, { headers: { accept } }),
      );
      await response.text();
      assertEquals(response.status, 200);
      return response.headers.get("x-agent-ignored-fields");
    };
    assertEquals(await ignored({ temperature: 1 }), null);
    assertEquals(
      await ignored({ top_p: 0.5, stream: true, "größe\n": 1 }),
      "top_p, stream, gr%C3%B6%C3%9Fe%0A",
    );
    const many = Object.fromEntries(Array.from({ length: 1000 }, (_, n) => [`field_${n}`, n]));
    assertEquals((await ignored(many))?.split(", ").length, 21);
  }
});

Deno.test("a misspelt field is refused, and the error names what was meant", async () => {
  const cases = {
    message: "messages",
    Messages: "messages",
    promt: "prompt",
    max_token: "max_tokens",
    temprature: "temperature",
  };
  for (const [name, meant] of Object.entries(cases)) {
    const provider = createScriptedProvider();
    const { service } = agentService(provider);
    const body = {
      [name]: 1,
      ...(meant === "prompt" || meant === "messages" ? {} : { prompt: "Hi" }),
    };
    const response = await service(agentRequestOf(body));
    const { errors } = await response.json();
    assertEquals(response.status, 400);
    assertEquals(errors, [{ path: name, message: `unknown field; did you mean ${meant}?` }]);
    assertEquals(provider.requests, []);
  }
});

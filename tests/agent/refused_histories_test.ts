import { assertEquals } from "@std/assert";
import { agentRequestOf, agentService } from "../fakes/agent_service.ts";
import { hubOf } from "../fakes/openai_provider.ts";
import { completion, startProviderDouble } from "../fakes/provider_double.ts";

/** Conversations that a model refuses are changed for it, and the answer says so. */

type Sent = { role: string; content: string; tool_calls?: { id: string }[] };

const ai = (...ids: string[]) => ({
  type: "ai",
  content: "",
  tool_calls: ids.map((id) => ({ id, name: "weather", args: {} })),
});
const result = (id: string) => ({ type: "tool", content: "sun", tool_call_id: id });
const human = (content: string) => ({ type: "human", content });

async function ask(refuse: (messages: Sent[]) => string | undefined, messages: unknown[]) {
  await using double = await startProviderDouble((request) => {
    const message = refuse(request.body.messages);
    if (!message) return completion({ content: "Fine." })(request);
    return Response.json({ error: { message } }, { status: 400 });
  });
  const { service } = agentService(hubOf(double));
  const repairs: (string | null)[] = [];
  for (let time = 0; time < 2; time++) {
    const response = await service(agentRequestOf({ messages }));
    assertEquals((await response.json()).content, "Fine.");
    repairs.push(response.headers.get("x-history-repairs"));
  }
  return { repairs, sent: double.requests.map(({ body }) => body.messages as Sent[]) };
}

Deno.test("a valid history reaches the provider as it is", async () => {
  const { sent, repairs } = await ask(
    () => undefined,
    [human("?"), ai("call_1", "call_2"), result("call_1"), result("call_2"), human("and?")],
  );
  const roles = sent[0]!.map(({ role }) => role);
  assertEquals(roles, ["system", "user", "assistant", "tool", "tool", "user"]);
  assertEquals(sent[0]![2]!.tool_calls!.map(({ id }) => id), ["call_1", "call_2"]);
  assertEquals(repairs, [null, null]);
});

Deno.test("a model that wants roles to alternate gets them so, from then on, and the repairs are counted", async () => {
  const { sent, repairs } = await ask(
    (messages) =>
      messages.some(({ role }, at) => role === "user" && messages[at - 1]?.role === "user")
        ? "Conversation roles must alternate user/assistant/user/assistant/..."
        : undefined,
    [human("a"), human("b")],
  );
  assertEquals(sent.map((messages) => messages.length), [3, 2, 2]);
  assertEquals(sent[1]![1]!.content, "a\n\nb");
  assertEquals(repairs, ["merged=1", "merged=1"]);
});

Deno.test("a model that refuses system messages gets the prompt in the first user message", async () => {
  const { sent, repairs } = await ask(
    (messages) =>
      messages.some(({ role }) => role === "system") ? "System role not supported" : undefined,
    [human("Hi")],
  );
  assertEquals(sent.map((messages) => messages.map(({ role }) => role).join(" ")), [
    "system user",
    "user",
    "user",
  ]);
  assertEquals(sent[1]![0]!.content, `${sent[0]![0]!.content}\n\nHi`);
  assertEquals(repairs, ["system=1", "system=1"]);
});

Deno.test("AGENT_SYSTEM_PROMPT=none sends no system prompt", async () => {
  await using double = await startProviderDouble(completion({ content: "Fine." }));
  const environment = { AGENT_SYSTEM_PROMPT: "none" };
  const { service } = agentService(hubOf(double), { environment });
  await (await service(agentRequestOf({ messages: [human("Hi")] }))).body?.cancel();
  assertEquals(double.requests[0]!.body.messages, [{ role: "user", content: "Hi" }]);
});

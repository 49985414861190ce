import { assertEquals, assertStringIncludes } from "@std/assert";
import { DefaultChatTransport, readUIMessageStream, type UIMessage } from "ai";
import { agentService } from "../../../fakes/agent_service.ts";
import { createScriptedProvider, type Step } from "../../../fakes/scripted_provider.ts";

const CALL = { id: "own-1", name: "calculator", arguments: '{"expression":"17 * 23"}' };
const userMessage = (text: string): UIMessage => ({
  id: "u",
  role: "user",
  parts: [{ type: "text", text }],
});

/** The page's side: the AI SDK's own transport and reader, on the service without a socket. */
function openChat(steps: Step[], headers: Record<string, string> = {}) {
  const provider = createScriptedProvider(...steps);
  const { service } = agentService(provider);
  const transport = new DefaultChatTransport({
    api: "http://127.0.0.1:8000/ai-sdk",
    headers: { "x-model-id": "a/b", ...headers },
    fetch: async (input, init) => await service(new Request(input as string, init)),
  });
  async function send(messages: UIMessage[]): Promise<UIMessage> {
    const stream = await transport.sendMessages({
      chatId: "chat-1",
      trigger: "submit-message",
      messageId: undefined,
      messages,
      abortSignal: undefined,
    });
    let last = messages.at(-1)!;
    const message = last.role === "assistant" ? last : undefined;
    for await (const state of readUIMessageStream({ stream, ...(message && { message }) })) {
      last = state;
    }
    return last;
  }
  return { provider, transport, send };
}

Deno.test("useChat's message has the text and the tools of a run, and its cost", async () => {
  const { send } = openChat([
    { content: "Let me see.", toolCalls: [CALL] },
    { content: "It is 391." },
  ]);
  const { parts, metadata } = await send([userMessage("17 * 23?")]);
  assertEquals(parts.map(({ type }) => type), ["text", "dynamic-tool", "text"]);
  const [said, tool, answer] = parts as unknown as [
    { text: string },
    { state: string; toolName: string; input: unknown; output: unknown },
    { text: string; state: string },
  ];
  assertEquals([said.text, answer.text, answer.state], ["Let me see.", "It is 391.", "done"]);
  assertEquals(
    [tool.state, tool.toolName, tool.input, tool.output],
    ["output-available", "calculator", { expression: "17 * 23" }, "391"],
  );
  assertEquals((metadata as { tool_calls: number }).tool_calls, 1);
});

Deno.test("the conversation that useChat sends back has the calls and their results", async () => {
  const { send, provider } = openChat([{ toolCalls: [CALL] }, { content: "391" }, {}]);
  const answer = await send([userMessage("17 * 23?")]);
  await send([
    userMessage("17 * 23?"),
    answer,
    {
      id: "u2",
      role: "user",
      parts: [
        { type: "text", text: "And this?" },
        { type: "file", mediaType: "image/png", url: "data:image/png;base64,AA==" },
      ],
    },
  ]);
  const { messages } = provider.requests.at(-1)!;
  assertEquals(messages.map(({ role }) => role), [
    "system",
    "user",
    "assistant",
    "tool",
    "assistant",
    "user",
  ]);
  assertEquals(messages[3]!.content, "391");
  assertStringIncludes(JSON.stringify(messages.at(-1)), "data:image/png;base64,AA==");
});

Deno.test("a tool waits for the approval of the page, and runs after it in the same message", async () => {
  const { send, provider } = openChat(
    [{ content: "May I?", toolCalls: [CALL] }, { content: "391" }],
    { "x-agent-approve": "tools" },
  );
  const asking = await send([userMessage("17 * 23?")]);
  const part = asking.parts.at(-1) as { state: string; approval: { id: string } };
  assertEquals(part.state, "approval-requested");
  Object.assign(part, {
    state: "approval-responded",
    approval: { ...part.approval, approved: true },
  });
  const answer = await send([userMessage("17 * 23?"), asking]);
  assertEquals(answer.id, asking.id);
  const roles = provider.requests[1]!.messages.map(({ role }) => role);
  assertEquals(roles, ["system", "user", "assistant", "tool"]);
  assertEquals(provider.requests[1]!.messages.at(-1)!.content, "391");
  const types = answer.parts.map(({ type }) => type);
  assertEquals(types, ["text", "dynamic-tool", "text"]);
});

Deno.test("a failure before the first words is an error of useChat; without a stream there is nothing to resume", async () => {
  const { send, transport } = openChat([new Error("secret")]);
  const failed = await send([userMessage("Hi")]).catch(({ message }) => message);
  assertStringIncludes(failed, "internal");
  assertEquals(await transport.reconnectToStream({ chatId: "none", metadata: undefined }), null);
});

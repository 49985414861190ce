import { assertEquals } from "@std/assert";
import { openAIRoutes } from "../../../../fakes/openai_routes.ts";
import { createScriptedProvider } from "../../../../fakes/scripted_provider.ts";

/** What the model is asked for a response, without the agent's own tools. */
async function translate(fields: Record<string, unknown>) {
  const provider = createScriptedProvider({ content: "Hello." });
  const { post } = openAIRoutes(provider);
  const response = await post("responses", { model: "a/b:plain", input: "Hi", ...fields });
  await response.text();
  return provider.requests[0]!;
}

const TOOL = { name: "f", parameters: { type: "object", properties: {} } };

Deno.test("the fields of a response become those of a chat completion", async () => {
  const schema = TOOL.parameters;
  const request = await translate({
    instructions: "Be brief.",
    max_output_tokens: 50,
    temperature: 0,
    reasoning: { effort: "low", summary: "auto" },
    text: { format: { type: "json_schema", name: "x", schema, strict: true }, verbosity: "low" },
    tools: [{ type: "function", ...TOOL, strict: null }],
    tool_choice: { type: "function", name: "f" },
    parallel_tool_calls: false,
    include: ["message.output_text.logprobs"],
    top_k: 5,
    store: true,
    metadata: { team: "a" },
    truncation: "auto",
    stream: true,
  });
  assertEquals<unknown>(request, {
    model: "a/b",
    messages: [
      { role: "system", content: "Be brief." },
      { role: "user", content: "Hi" },
    ],
    maxTokens: 50,
    temperature: 0,
    tools: [TOOL],
    extra: {
      reasoning_effort: "low",
      verbosity: "low",
      response_format: { type: "json_schema", json_schema: { name: "x", schema, strict: true } },
      tool_choice: { type: "function", function: { name: "f" } },
      parallel_tool_calls: false,
      logprobs: true,
      top_k: 5,
    },
  });
  const json = await translate({ text: { format: { type: "json_object" } } });
  assertEquals<unknown>(json.extra, { response_format: { type: "json_object" } });
  const tool_choice = {
    type: "allowed_tools",
    mode: "auto",
    tools: [{ type: "function", name: "f" }],
  };
  const tools = [{ type: "function", ...TOOL }];
  assertEquals((await translate({ tools, tool_choice })).extra?.tool_choice, {
    type: "allowed_tools",
    allowed_tools: { mode: "auto", tools: [{ type: "function", function: { name: "f" } }] },
  });
});

Deno.test("items become messages: one message for each turn of the model", async () => {
  const { messages } = await translate({
    input: [
      { role: "developer", content: "Be kind." },
      { role: "user", content: [{ type: "input_text", text: "Hello" }] },
      { type: "reasoning", id: "rs_1", summary: [{ type: "summary_text", text: "Hm." }] },
      {
        type: "message",
        role: "assistant",
        content: [{ type: "output_text", text: "One moment.", annotations: [] }],
      },
      { type: "function_call", call_id: "c1", name: "f", arguments: "{}" },
      { type: "function_call", call_id: "c2", name: "g", arguments: "{}" },
      { type: "function_call_output", call_id: "c1", output: "one" },
      { type: "function_call_output", call_id: "c2", output: "two" },
      { type: "function_call", call_id: "c3", name: "f", arguments: "{}" },
      { type: "function_call_output", call_id: "c3", output: "three" },
    ],
  });
  const call = (id: string, name: string) => ({ id, name, arguments: "{}" });
  assertEquals<unknown>(messages, [
    { role: "system", content: "Be kind." },
    { role: "user", content: "Hello" },
    {
      role: "assistant",
      content: "One moment.",
      toolCalls: [call("c1", "f"), call("c2", "g")],
      extra: { reasoning_content: "Hm." },
    },
    { role: "tool", toolCallId: "c1", content: "one" },
    { role: "tool", toolCallId: "c2", content: "two" },
    { role: "assistant", content: "", toolCalls: [call("c3", "f")] },
    { role: "tool", toolCallId: "c3", content: "three" },
  ]);
});

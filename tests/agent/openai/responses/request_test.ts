import { assertEquals, assertObjectMatch } from "@std/assert";
import { toMessages } from "../../../../agent/openai/responses/input.ts";
import { toCompletionRequest } from "../../../../agent/openai/responses/handler.ts";
import { sealFields } from "../../../../agent/openai/responses/output.ts";
import { type InputItem, ResponsesRequest } from "../../../../agent/schemas/responses.ts";

function translate(fields: Record<string, unknown>) {
  const body = ResponsesRequest.parse({ model: "a/b", input: "Hi", ...fields });
  return toCompletionRequest(body, () => undefined);
}

Deno.test("the fields of a response become those of a chat completion", () => {
  const schema = { type: "object", properties: {} };
  const body = translate({
    instructions: "Be brief.",
    max_output_tokens: 50,
    temperature: 0,
    reasoning: { effort: "low", summary: "auto" },
    text: { format: { type: "json_schema", name: "x", schema, strict: true }, verbosity: "low" },
    tools: [{ type: "function", name: "f", parameters: schema, strict: null }],
    tool_choice: { type: "function", name: "f" },
    parallel_tool_calls: false,
    include: ["message.output_text.logprobs"],
    top_k: 5,
    store: true,
    metadata: { team: "a" },
    truncation: "auto",
    stream: true,
  });
  assertEquals(JSON.parse(JSON.stringify(body)), {
    model: "a/b",
    messages: [
      { role: "system", content: "Be brief." },
      { role: "user", content: "Hi" },
    ],
    max_tokens: 50,
    temperature: 0,
    reasoning_effort: "low",
    verbosity: "low",
    response_format: { type: "json_schema", json_schema: { name: "x", schema, strict: true } },
    tools: [{ type: "function", function: { name: "f", parameters: schema } }],
    tool_choice: { type: "function", function: { name: "f" } },
    parallel_tool_calls: false,
    logprobs: true,
    top_k: 5,
    stream: true,
  });
  assertObjectMatch(translate({ text: { format: { type: "json_object" } } }), {
    response_format: { type: "json_object" },
  });
  const choice = {
    type: "allowed_tools",
    mode: "auto",
    tools: [{ type: "function", name: "f" }],
  };
  assertEquals(translate({ tool_choice: choice }).tool_choice, {
    type: "allowed_tools",
    allowed_tools: { mode: "auto", tools: [{ type: "function", function: { name: "f" } }] },
  });
});

Deno.test("items become messages: one message for each turn of the model", () => {
  const { messages } = translate({
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
      { type: "reasoning", id: "rs_2", encrypted_content: sealFields({ reasoning_details: [7] }) },
      { type: "function_call", call_id: "c3", name: "f", arguments: "{}" },
      { type: "function_call_output", call_id: "c3", output: "three" },
    ],
  });
  const call = (id: string, name: string) => ({
    id,
    type: "function",
    function: { name, arguments: "{}" },
  });
  const found = messages.map((message) => ({ ...message, content: message.content || null }));
  assertEquals<unknown>(found, [
    { role: "developer", content: "Be kind." },
    { role: "user", content: "Hello" },
    {
      role: "assistant",
      reasoning_content: "Hm.",
      content: "One moment.",
      tool_calls: [call("c1", "f"), call("c2", "g")],
    },
    { role: "tool", tool_call_id: "c1", content: "one" },
    { role: "tool", tool_call_id: "c2", content: "two" },
    {
      role: "assistant",
      reasoning_details: [7],
      content: null,
      tool_calls: [call("c3", "f")],
    },
    { role: "tool", tool_call_id: "c3", content: "three" },
  ]);
});

const callOf = (id: string): InputItem => (
  { type: "function_call", call_id: id, name: "f", arguments: "{}" }
);
const outputOf = (id: string): InputItem => (
  { type: "function_call_output", call_id: id, output: "fine" }
);

Deno.test("calls that follow each other are one message, in their order", () => {
  const items = [callOf("1"), callOf("2"), outputOf("1"), outputOf("2"), callOf("3")];
  const messages = toMessages(items, () => undefined);
  assertEquals(messages.map(({ role }) => role), ["assistant", "tool", "tool", "assistant"]);
  const ids = messages.map(({ tool_calls }) =>
    (tool_calls as { id: string }[])?.map(({ id }) => id)
  );
  assertEquals(ids, [["1", "2"], undefined, undefined, ["3"]]);
});

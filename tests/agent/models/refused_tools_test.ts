import { assertEquals, assertStringIncludes } from "@std/assert";
import { hubOf } from "../../fakes/openai_provider.ts";
import { openAIRoutes } from "../../fakes/openai_routes.ts";
import {
  type Answer,
  completion,
  completionChunks,
  errorStatus,
  type ReceivedRequest,
  sse,
  startProviderDouble,
} from "../../fakes/provider_double.ts";

/** The words of Ollama, OpenAI, Groq, Mistral, DeepSeek, DeepInfra, Bedrock, NVIDIA, vLLM, llama.cpp. */
const REFUSALS: [status: number, message: string][] = [
  [400, "registry.ollama.ai/library/gemma3:latest does not support tools"],
  [400, "tools is not supported in this model. For a list of supported models, refer to the docs."],
  [400, "`tool calling` is not supported with this model"],
  [400, "Function calling is not enabled for this model"],
  [400, "deepseek-reasoner does not support Function Calling"],
  [405, "Tool calling is not supported for model: acme/small"],
  [400, "This model doesn't support tool use."],
  [400, "Tool use has not been enabled, because it is unsupported by acme/small."],
  [400, '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'],
  [500, "tools param requires --jinja flag"],
];

/** OpenRouter's, which another minute may be over. */
const PASSING = 'No endpoints found that support tool use. Try disabling "calculator".';

/** A provider that refuses requests with tools. */
function strict(status: number, message: string): Answer {
  return (request) => {
    const { tools, stream } = request.body;
    if (tools) return errorStatus(status, { message })(request);
    const fields = { content: "Oslo" };
    return (stream ? sse(completionChunks(fields)) : completion(fields))(request);
  };
}

const hasTools = ({ body }: ReceivedRequest) => body.tools !== undefined;
const BODY = { messages: [{ role: "user", content: "Which city?" }], tool_choice: "auto" };

for (const stream of [false, true]) {
  Deno.test(`stream ${stream}: a model that refuses tools is asked without the agent's`, async () => {
    for (const [status, message] of REFUSALS) {
      await using double = await startProviderDouble(strict(status, message));
      const { post } = openAIRoutes(hubOf(double));
      for (let asked = 0; asked < 2; asked++) {
        const response = await post("chat/completions", { ...BODY, stream });
        assertStringIncludes(await response.text(), "Oslo", message);
      }
      const [first, ...others] = double.requests.slice(-3).map(hasTools);
      assertEquals([first, others], [true, [false, false]], message);
      assertEquals(double.requests.at(-1)!.body.tool_choice, undefined);
    }
  });
}

Deno.test("a model that finds no provider with tools for now is offered them again", async () => {
  await using double = await startProviderDouble(strict(404, PASSING));
  const { post } = openAIRoutes(hubOf(double));
  for (let asked = 0; asked < 2; asked++) {
    assertStringIncludes(await (await post("chat/completions", BODY)).text(), "Oslo");
  }
  assertEquals(double.requests.map(hasTools), [true, false, true, false]);
});

Deno.test("the caller's own tools are not left out: the refusal is passed on", async () => {
  const [status, message] = REFUSALS[0]!;
  await using double = await startProviderDouble(strict(status, message));
  const { post } = openAIRoutes(hubOf(double));
  const tools = [{ type: "function", function: { name: "look_up" } }];
  const response = await post("chat/completions", { ...BODY, tools });
  assertEquals([response.status, double.requests.length], [400, 1]);
  assertStringIncludes(await response.text(), message);
});

Deno.test("a refusal of something else about tools is passed on", async () => {
  for (
    const message of [
      "Unsupported parameter: 'parallel_tool_calls' is not supported with this model.",
      "tool_choice is not supported",
      "Parallel tool calls are not supported by this model.",
      "Error: strict tools are not supported",
      "Images in tool results are not supported.",
      "This model doesn't support tool use in streaming mode.",
      "Invalid schema for function 'look_up': unknown type",
    ]
  ) {
    await using double = await startProviderDouble(strict(400, message));
    const { post } = openAIRoutes(hubOf(double));
    const response = await post("chat/completions", BODY);
    assertEquals([response.status, double.requests.length], [400, 1], message);
    await response.text();
  }
});

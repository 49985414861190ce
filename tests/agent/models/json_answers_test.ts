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

const JSON_TEXT = '{"city": "Oslo"}';
const SCHEMA = { name: "city", schema: { type: "object" } };

/** The words of Groq, Gemini, Vertex, Cerebras and Fireworks. */
const REFUSALS = [
  "json mode cannot be combined with tool/function calling",
  "Function calling with a response mime type: 'application/json' is unsupported",
  "Unable to submit request because controlled generation is not supported with Function Calling tool.",
  '"tools" is incompatible with "response_format"',
  "You cannot specify response format and function call at the same time",
];

/** A provider that refuses JSON together with tools. */
function strict(message: string): Answer {
  return (request) => {
    const { tools, response_format, stream } = request.body;
    const isJson = ["json_object", "json_schema"].includes(response_format?.type);
    if (tools && isJson) return errorStatus(400, { message })(request);
    const fields = { content: JSON_TEXT };
    return (stream ? sse(completionChunks(fields)) : completion(fields))(request);
  };
}

const toolNames = ({ body }: ReceivedRequest) =>
  // deno-lint-ignore no-explicit-any
  body.tools?.map((tool: any) => tool.function.name);

const OWN = ["current_time", "calculator"];

/** What a client asks for JSON with, on each route, streamed or not. */
const BODIES = {
  "chat/completions": {
    messages: [{ role: "user", content: "Which city?" }],
    response_format: { type: "json_schema", json_schema: SCHEMA },
  },
  responses: { input: "Which city?", text: { format: { type: "json_schema", ...SCHEMA } } },
} as const;

for (const route of ["chat/completions", "responses"] as const) {
  for (const stream of [false, true]) {
    Deno.test(`${route}, stream ${stream}: a model that refuses JSON with tools is asked without the agent's`, async () => {
      for (const refusal of REFUSALS) {
        await using double = await startProviderDouble(strict(refusal));
        const { post } = openAIRoutes(hubOf(double));
        for (let asked = 0; asked < 2; asked++) {
          const response = await post(route, { ...BODIES[route], stream, tool_choice: "auto" });
          assertEquals(response.status, 200, refusal);
          assertStringIncludes(await response.text(), "Oslo");
        }
        assertEquals(double.requests.map(toolNames), [OWN, undefined, undefined], refusal);
        assertEquals(double.requests.at(-1)!.body.tool_choice, undefined);
      }
    });
  }
}

Deno.test("such a model is offered the agent's tools where no JSON is asked for", async () => {
  await using double = await startProviderDouble(strict(REFUSALS[0]!));
  const { post } = openAIRoutes(hubOf(double));
  const { response_format: _, ...body } = BODIES["chat/completions"];
  await (await post("chat/completions", BODIES["chat/completions"])).text();
  await (await post("chat/completions", body)).text();
  assertEquals(double.requests.map(toolNames), [OWN, undefined, OWN]);
});

Deno.test("the caller's own tools are not left out: the refusal is passed on", async () => {
  await using double = await startProviderDouble(strict(REFUSALS[0]!));
  const { post } = openAIRoutes(hubOf(double));
  const tools = [{ type: "function", function: { name: "look_up" } }];
  const response = await post("chat/completions", { ...BODIES["chat/completions"], tools });
  assertEquals([response.status, double.requests.length], [400, 1]);
  assertStringIncludes(await response.text(), REFUSALS[0]!);
});

Deno.test("a refusal of the format alone is passed on after one call", async () => {
  const message = "Invalid schema for response_format 'city': additionalProperties is required.";
  await using double = await startProviderDouble(strict(message));
  const { post } = openAIRoutes(hubOf(double));
  const response = await post("chat/completions", BODIES["chat/completions"]);
  assertEquals([response.status, double.requests.length], [400, 1]);
  assertStringIncludes(await response.text(), message);
});

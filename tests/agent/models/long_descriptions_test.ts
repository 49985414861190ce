import { assertEquals } from "@std/assert";
import { hubOf } from "../../fakes/openai_provider.ts";
import { openAIRoutes } from "../../fakes/openai_routes.ts";
import {
  type Answer,
  completion,
  errorStatus,
  type ReceivedRequest,
  startProviderDouble,
} from "../../fakes/provider_double.ts";

const lengthsOf = ({ body }: ReceivedRequest): number[] =>
  body.tools.map((tool: { function: { description?: string } }) =>
    tool.function.description?.length ?? 0
  ).slice(-2);

/** Refuses long descriptions of tools, in OpenAI's words. */
const azure: Answer = (request) => {
  const at = lengthsOf(request).findIndex((length) => length > 1024);
  if (at < 0) return completion()(request);
  const message =
    `Invalid 'tools[${at}].function.description': string too long. Expected a string ` +
    "with maximum length 1024, but got a string with length 3000 instead.";
  return errorStatus(400, { message })(request);
};

const toTool = (name: string, description: string) => ({
  type: "function",
  function: { name, description, parameters: { type: "object" } },
});
const BODY = {
  messages: [{ role: "user", content: "Hello" }],
  tools: [toTool("long", "x".repeat(3_000)), toTool("short", "Looks.")],
};

Deno.test("a model that refuses long descriptions of tools gets their start from then on", async () => {
  await using double = await startProviderDouble(azure);
  const { post } = openAIRoutes(hubOf(double));
  for (let call = 0; call < 2; call++) {
    const response = await post("chat/completions", BODY);
    assertEquals(response.status, 200);
    await response.body?.cancel();
  }
  assertEquals(double.requests.map(lengthsOf), [[3_000, 6], [1_024, 6], [1_024, 6]]);
});

Deno.test("another refusal that has to do with a description is passed on", async () => {
  const message = "Invalid 'tools[0].function.description': it is not a string";
  await using double = await startProviderDouble(errorStatus(400, { message }));
  const { post } = openAIRoutes(hubOf(double));
  const response = await post("chat/completions", BODY);
  const { error } = await response.json();
  assertEquals([response.status, error.message, double.requests.length], [400, message, 1]);
});

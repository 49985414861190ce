import { assertEquals, assertStringIncludes } from "@std/assert";
import { agentRequestOf, agentService } from "../../fakes/agent_service.ts";
import { hubOf } from "../../fakes/openai_provider.ts";
import {
  type Answer,
  completion,
  completionChunks,
  type CompletionFields,
  errorStatus,
  type ReceivedRequest,
  sse,
  startProviderDouble,
} from "../../fakes/provider_double.ts";

/** Bedrock's words, and LiteLLM's in front of it. */
const REFUSALS = [
  "The toolConfig field must be defined when using toolUse and toolResult content blocks.",
  "Bedrock doesn't support tool calling without `tools=` param specified.",
];

/** A provider that refuses tool calls in a conversation without the definitions of tools. */
function strict(answers: CompletionFields[], refusal: string): Answer[] {
  let given = 0;
  return [(request) => {
    const { messages, tools, stream } = request.body;
    const hasCalls = messages.some((message: { role: string }) => message.role === "tool");
    if (hasCalls && !tools) return errorStatus(400, { message: refusal })(request);
    const fields = answers[given++]!;
    return (stream ? sse(completionChunks(fields)) : completion(fields))(request);
  }];
}

async function ask(baseUrl: string, { body, accept, ...environment }: {
  body: unknown;
  accept: string;
  AGENT_MAX_STEPS?: string;
  AGENT_TOOLS?: string;
}) {
  const { service } = agentService(hubOf({ baseUrl }), { environment });
  const response = await service(agentRequestOf(body, { headers: { accept } }));
  return { status: response.status, text: await response.text() };
}

const toolNames = ({ body }: ReceivedRequest) =>
  // deno-lint-ignore no-explicit-any
  body.tools?.map((tool: any) => tool.function.name);

const SUM = { id: "c1", name: "calculator", arguments: '{"expression":"1+1"}' };

for (const accept of ["application/json", "text/event-stream"]) {
  for (const refusal of REFUSALS) {
    Deno.test(`a provider that wants tools with their calls answers at the step limit, ${accept}: ${refusal}`, async () => {
      const answers = [{ toolCalls: [SUM] }, { content: "It is 2." }];
      await using double = await startProviderDouble(strict(answers, refusal));
      const { status, text } = await ask(double.baseUrl, {
        body: { prompt: "What is 1+1?" },
        accept,
        AGENT_MAX_STEPS: "1",
      });
      assertEquals(status, 200);
      assertStringIncludes(text, '"content":"It is 2."');
      const offered = [["current_time", "calculator"], undefined, ["calculator"]];
      assertEquals(double.requests.map(toolNames), offered);
    });
  }
}

Deno.test("an agent without tools answers a conversation that has some, at such a provider", async () => {
  await using double = await startProviderDouble(strict([{}], REFUSALS[0]!));
  const { status } = await ask(double.baseUrl, {
    body: {
      messages: [
        { type: "human", content: "Look." },
        { type: "tool", name: "look", content: "seen" },
        { type: "human", content: "And?" },
      ],
    },
    accept: "application/json",
    AGENT_TOOLS: "none",
  });
  assertEquals([status, double.requests.map(toolNames)], [200, [undefined, ["look"]]]);
});

Deno.test("a refusal that is not about tools is reported after one call", async () => {
  const message = "This model's maximum context length is 10 tokens.";
  await using double = await startProviderDouble(errorStatus(400, { message }));
  const { status, text } = await ask(double.baseUrl, {
    body: { messages: [{ type: "human", content: "Look." }, { type: "tool", content: "seen" }] },
    accept: "application/json",
    AGENT_TOOLS: "none",
  });
  assertEquals([status, double.requests.length], [400, 1]);
  assertStringIncludes(text, message);
});

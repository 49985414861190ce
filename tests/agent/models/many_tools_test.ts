import { assertEquals } from "@std/assert";
import { z } from "zod";
import { createFixedTools, type Tool } from "../../../agent/tools/tool.ts";
import { agentRequestOf, agentService } from "../../fakes/agent_service.ts";
import { hubOf } from "../../fakes/openai_provider.ts";
import {
  type Answer,
  completion,
  errorStatus,
  type ReceivedRequest,
  startProviderDouble,
} from "../../fakes/provider_double.ts";

const TOOLS = Array.from({ length: 130 }, (_, at): Tool => ({
  name: `tool_${at}`,
  description: "",
  schema: z.object({}),
  run: () => "",
}));

const namesOf = ({ body }: ReceivedRequest): string[] =>
  body.tools.map((tool: { function: { name: string } }) => tool.function.name);

/** The words of OpenAI, Groq, xAI and Gemini. */
const REFUSALS = [
  "Invalid 'tools': array too long. Expected an array with maximum length 128, but got an array " +
  "with length 130 instead.",
  "'tools' : maximum number of items is 128",
  "Maximum tools limit reached. 130 tools have been provided but the maximum is 128.",
  "* tools[0].function_declarations: [FIELD_INVALID] At most 128 function declarations can be " +
  "specified.",
];

/** Asks twice, and returns the statuses and how many tools each request to the hub had. */
async function askWith(answer: Answer, more: Record<string, unknown> = {}) {
  await using hub = await startProviderDouble(answer);
  const { service } = agentService(hubOf(hub), { tools: createFixedTools(TOOLS) });
  const statuses: number[] = [];
  for (let call = 0; call < 2; call++) {
    const { status, body } = await service(agentRequestOf({ prompt: "Hi", ...more }));
    statuses.push(status);
    await body?.cancel();
  }
  return { statuses, offered: hub.requests.map(namesOf) };
}

Deno.test("a model that refuses so many tools is asked with the first 128 from then on", async () => {
  for (const message of REFUSALS) {
    const { statuses, offered } = await askWith((request) =>
      namesOf(request).length > 128 ? errorStatus(400, { message })(request) : completion()(request)
    );
    assertEquals(statuses, [200, 200]);
    assertEquals(offered.map(({ length }) => length), [130, 128, 128]);
    assertEquals(offered[1], TOOLS.slice(0, 128).map(({ name }) => name));
  }
});

Deno.test("another refusal of a request with many tools is passed on", async () => {
  const message = "Invalid 'tools[0].function.name': it has a blank";
  const { statuses, offered } = await askWith(errorStatus(400, { message }));
  assertEquals([statuses, offered.length], [[400, 400], 2]);
});

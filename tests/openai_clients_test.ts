import {
  assert,
  assertEquals,
  assertObjectMatch,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { HumanMessage, SystemMessage } from "@langchain/core/messages";
import { ChatOpenAI } from "@langchain/openai";
import { generateText, streamText } from "ai";
import OpenAI, { BadRequestError } from "openai";
import { completionChunks, sse, startProviderDouble } from "./fakes/provider_double.ts";
import { completion, type ReceivedRequest } from "./fakes/provider_answers.ts";
import { startServiceProcess } from "./fakes/service_process.ts";

/** The real client libraries, unchanged, against the real service and a provider double. */

const SUM = [{ name: "calculator", arguments: '{"expression":"17*23"}' }];

/** Calls the calculator first, then answers with its result. */
function answer(request: ReceivedRequest): Response | Promise<Response> {
  if (request.path === "/v1/models") {
    return Response.json({ data: [{ id: "acme/m-1" }, { id: "no-slash" }] });
  }
  const { messages, stream } = request.body;
  const result = messages.at(-1).role === "tool" ? messages.at(-1).content : undefined;
  const fields = result ? { content: `It is ${result}.` } : { toolCalls: SUM };
  return stream ? sse(completionChunks(fields))(request) : completion(fields)(request);
}

async function start() {
  const hub = await startProviderDouble(answer);
  const agent = await startServiceProcess("agent", { environment: { HUB_BASE_URL: hub.baseUrl } });
  return {
    hub,
    baseURL: `${agent.url}/v1`,
    async [Symbol.asyncDispose]() {
      await agent[Symbol.asyncDispose]();
      await hub[Symbol.asyncDispose]();
    },
  };
}

const QUESTION = "What is 17 * 23?";

Deno.test("OpenAI's own SDK works: completion, stream, models, errors", async () => {
  await using service = await start();
  const client = new OpenAI({ baseURL: service.baseURL, apiKey: "any", maxRetries: 0 });
  const messages = [{ role: "user" as const, content: QUESTION }];

  const whole = await client.chat.completions.create({ model: "acme/m-1", messages });
  assertEquals(whole.choices[0]?.message.content, "It is 391.");
  assertEquals(whole.usage?.total_tokens, 24);

  const stream = await client.chat.completions.create({
    model: "acme/m-1",
    messages,
    stream: true,
    stream_options: { include_usage: true },
  });
  let text = "";
  let total = 0;
  for await (const chunk of stream) {
    text += chunk.choices[0]?.delta.content ?? "";
    total = chunk.usage?.total_tokens ?? total;
  }
  assertEquals([text, total], ["It is 391.", 24]);

  const { data } = await client.models.list();
  assertEquals(data.map(({ id }) => id), ["acme/m-1"]);

  const error = await assertRejects(
    () => client.chat.completions.create({ model: "gpt-4o", messages }),
    BadRequestError,
  );
  assertEquals([error.code, error.param], ["invalid_model_id", "model"]);
});

Deno.test("OpenAI's stream helper assembles the answer", async () => {
  await using service = await start();
  const client = new OpenAI({ baseURL: service.baseURL, apiKey: "any", maxRetries: 0 });
  const runner = client.chat.completions.stream({
    model: "acme/m-1",
    messages: [{ role: "user", content: QUESTION }],
  });
  assertEquals(await runner.finalContent(), "It is 391.");
});

Deno.test("LangChain's ChatOpenAI works: invoke and stream", async () => {
  await using service = await start();
  const model = new ChatOpenAI({
    model: "acme/m-1",
    apiKey: "any",
    temperature: 0,
    maxRetries: 0,
    configuration: { baseURL: service.baseURL },
  });
  const messages = [new SystemMessage("Be brief."), new HumanMessage(QUESTION)];
  const reply = await model.invoke(messages);
  assertEquals(reply.content, "It is 391.");
  assertObjectMatch({ ...reply }, { usage_metadata: { total_tokens: 24 } });
  const [system] = service.hub.requests[0]!.body.messages;
  assertEquals(system, { role: "system", content: "Be brief." });

  let text = "";
  for await (const chunk of await model.stream(messages)) text += chunk.content;
  assertEquals(text, "It is 391.");
});

Deno.test("the Vercel AI SDK works: generateText and streamText", async () => {
  await using service = await start();
  const assay = createOpenAICompatible({
    name: "assay",
    baseURL: service.baseURL,
    apiKey: "any",
    includeUsage: true,
  });
  const { text, usage } = await generateText({ model: assay("acme/m-1"), prompt: QUESTION });
  assertEquals([text, usage.totalTokens], ["It is 391.", 24]);

  const streamed = streamText({ model: assay("acme/m-1"), prompt: QUESTION });
  assertEquals(await streamed.text, "It is 391.");
  assertEquals((await streamed.usage).totalTokens, 24);

  const error = await assertRejects(() =>
    generateText({ model: assay("gpt-4o"), prompt: QUESTION, maxRetries: 0 })
  );
  assert(error instanceof Error);
  assertStringIncludes(error.message, "neither a UUID nor <provider>/<model>");
});

import { assert, assertEquals, assertRejects } from "@std/assert";
import type OpenAI from "openai";
import {
  ANSWER,
  type ClientService,
  MODEL,
  QUESTION,
  TOKENS,
  WEATHER,
  WEATHER_ANSWER,
  WEATHER_QUESTION,
} from "./service.ts";

/** OpenAI's own package. Its majors from 4 on have the same methods. */
export async function useOpenAI(Client: typeof OpenAI, { baseURL }: ClientService): Promise<void> {
  const client = new Client({ baseURL, apiKey: "any", maxRetries: 0 });
  await useChat(client);
  await useOwnTool(client);
  await useResponses(client);
  await useOwnToolInResponses(client);
  await useModels(client);
}

async function useModels(client: OpenAI): Promise<void> {
  const { data } = await client.models.list();
  assertEquals(data.map(({ id }) => id), [MODEL]);
  assertEquals((await client.models.retrieve(MODEL)).id, MODEL);
  const missing = await assertRejects(() => client.models.retrieve("acme/none"));
  assertEquals(read(missing), { status: 404, code: "model_not_found", param: "model" });
  const messages = [{ role: "user" as const, content: QUESTION }];
  const refused = await assertRejects(() =>
    client.chat.completions.create({ model: "gpt-4o", messages })
  );
  assertEquals(read(refused), { status: 400, code: "invalid_model_id", param: "model" });
}

function read(error: unknown) {
  assert(error instanceof Error && "status" in error && "code" in error && "param" in error);
  return { status: error.status, code: error.code, param: error.param };
}

async function useChat(client: OpenAI): Promise<void> {
  const messages = [{ role: "user" as const, content: QUESTION }];
  const whole = await client.chat.completions.create({ model: MODEL, messages });
  assertEquals(whole.choices[0]?.message.content, ANSWER);
  assertEquals(whole.usage?.total_tokens, TOKENS);
  const stream = await client.chat.completions.create({
    model: MODEL,
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
  assertEquals([text, total], [ANSWER, TOKENS]);
}

const PARAMETERS = { type: "object", properties: { city: { type: "string" } } };

/** A tool turn of which each half is whole, then one of which each half is streamed. */
async function useOwnTool(client: OpenAI): Promise<void> {
  const asked: OpenAI.ChatCompletionMessageParam = { role: "user", content: WEATHER_QUESTION };
  const tools = [{
    type: "function" as const,
    function: { name: "get_weather", parameters: PARAMETERS },
  }];
  const first = await client.chat.completions.create({ model: MODEL, messages: [asked], tools });
  const { message } = first.choices[0]!;
  const result = { role: "tool" as const, content: WEATHER };
  const answered = await client.chat.completions.create({
    model: MODEL,
    tools,
    messages: [asked, message, { ...result, tool_call_id: message.tool_calls![0]!.id }],
  });
  assertEquals(answered.choices[0]?.message.content, WEATHER_ANSWER);

  const streamed = { model: MODEL, tools, stream: true as const };
  const call = { id: "", type: "function" as const, function: { name: "", arguments: "" } };
  for await (
    const chunk of await client.chat.completions.create({ ...streamed, messages: [asked] })
  ) {
    const piece = chunk.choices[0]?.delta.tool_calls?.[0];
    call.id += piece?.id ?? "";
    call.function.name += piece?.function?.name ?? "";
    call.function.arguments += piece?.function?.arguments ?? "";
  }
  assertEquals(call.function, { name: "get_weather", arguments: '{"city":"Oslo"}' });
  const messages = [asked, { role: "assistant" as const, tool_calls: [call] }, {
    ...result,
    tool_call_id: call.id,
  }];
  let text = "";
  for await (const chunk of await client.chat.completions.create({ ...streamed, messages })) {
    text += chunk.choices[0]?.delta.content ?? "";
  }
  assertEquals(text, WEATHER_ANSWER);
}

async function useResponses(client: OpenAI): Promise<void> {
  const whole = await client.responses.create({ model: MODEL, input: QUESTION });
  assertEquals([whole.output_text, whole.usage?.total_tokens], [ANSWER, TOKENS]);
  const stream = await client.responses.create({ model: MODEL, input: QUESTION, stream: true });
  let text = "";
  for await (const event of stream) {
    if (event.type === "response.output_text.delta") text += event.delta;
  }
  assertEquals(text, ANSWER);
}

/** The same tool turns with the Responses API. */
async function useOwnToolInResponses(client: OpenAI): Promise<void> {
  type Params = Omit<OpenAI.Responses.ResponseCreateParamsNonStreaming, "stream">;
  const whole = (params: Params): Promise<OpenAI.Responses.Response> =>
    client.responses.create(params);
  const streamed = (params: Params): Promise<OpenAI.Responses.Response> =>
    client.responses.stream(params).finalResponse();
  for (const ask of [whole, streamed]) {
    const tools = [{
      type: "function" as const,
      name: "get_weather",
      parameters: PARAMETERS,
      strict: false,
    }];
    const asked = { role: "user" as const, content: WEATHER_QUESTION };
    const { output } = await ask({ model: MODEL, tools, input: [asked] });
    const call = output.find((item) => item.type === "function_call")!;
    assertEquals([call.name, call.arguments], ["get_weather", '{"city":"Oslo"}']);
    const { call_id, name, arguments: args } = call;
    const answered = await ask({
      model: MODEL,
      tools,
      input: [asked, { type: "function_call", call_id, name, arguments: args }, {
        type: "function_call_output",
        call_id,
        output: WEATHER,
      }],
    });
    const said = answered.output.flatMap((item) => item.type === "message" ? item.content : []);
    assertEquals(said.map((part) => part.type === "output_text" && part.text), [WEATHER_ANSWER]);
  }
}

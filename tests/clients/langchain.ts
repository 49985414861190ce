import { assertEquals, assertObjectMatch } from "@std/assert";
import {
  type AIMessageChunk,
  type BaseMessage,
  HumanMessage,
  SystemMessage,
} from "@langchain/core/messages";
import { concat } from "@langchain/core/utils/stream";
import { tool } from "@langchain/core/tools";
import { ChatOpenAI } from "@langchain/openai";
import { z } from "zod";
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

const getWeather = tool(() => WEATHER, {
  name: "get_weather",
  description: "The weather in a city.",
  schema: z.object({ city: z.string() }),
});

/** LangChain.js, with chat completions and with the Responses API. */
export async function useLangChain({ baseURL, hub }: ClientService): Promise<void> {
  for (const useResponsesApi of [false, true]) {
    const model = new ChatOpenAI({
      model: MODEL,
      apiKey: "any",
      temperature: 0,
      maxRetries: 0,
      useResponsesApi,
      configuration: { baseURL },
    });
    const messages = [new SystemMessage("Be brief."), new HumanMessage(QUESTION)];
    const reply = await model.invoke(messages);
    assertEquals(reply.text, ANSWER);
    assertObjectMatch({ ...reply }, { usage_metadata: { total_tokens: TOKENS } });
    const [system] = hub.requests.at(-1)!.body.messages;
    assertEquals(system, { role: "system", content: "Be brief." });

    assertEquals((await join(await model.stream(messages))).text, ANSWER);

    const withTool = model.bindTools([getWeather]);
    const whole = (said: BaseMessage[]) => withTool.invoke(said);
    const streamed = async (said: BaseMessage[]) => join(await withTool.stream(said));
    for (const ask of [whole, streamed]) {
      const asked = [new HumanMessage(WEATHER_QUESTION)];
      const call = await ask(asked);
      const result = await getWeather.invoke(call.tool_calls![0]!);
      assertEquals((await ask([...asked, call, result])).text, WEATHER_ANSWER);
    }
  }
}

async function join(stream: AsyncIterable<AIMessageChunk>): Promise<AIMessageChunk> {
  let sofar: AIMessageChunk | undefined;
  for await (const chunk of stream) sofar = sofar ? concat(sofar, chunk) : chunk;
  return sofar!;
}

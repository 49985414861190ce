import { assertEquals } from "@std/assert";
import { OpenAI } from "npm:@llamaindex/openai@0.4.23";
import {
  ANSWER,
  type ClientService,
  MODEL,
  QUESTION,
  WEATHER,
  WEATHER_ANSWER,
  WEATHER_QUESTION,
} from "./service.ts";

const getWeather = {
  metadata: {
    name: "get_weather",
    description: "The weather in a city.",
    parameters: { type: "object", properties: { city: { type: "string" } } },
  },
  call: () => WEATHER,
};

/** LlamaIndex's OpenAI model, with its own tool loop. */
export async function useLlamaIndex({ baseURL }: ClientService): Promise<void> {
  const llm = new OpenAI({ model: MODEL, apiKey: "any", baseURL, maxRetries: 0 });
  const messages = [{ role: "user" as const, content: QUESTION }];
  assertEquals((await llm.chat({ messages })).message.content, ANSWER);
  let text = "";
  for await (const chunk of await llm.chat({ messages, stream: true })) text += chunk.delta;
  assertEquals(text, ANSWER);

  const asked = [{ role: "user" as const, content: WEATHER_QUESTION }];
  const tools = [getWeather as never];
  const { newMessages } = await llm.exec({ messages: asked, tools });
  const answered = await llm.chat({ messages: [...asked, ...newMessages as never[]] });
  assertEquals(answered.message.content, WEATHER_ANSWER);

  const turn = await llm.exec({ messages: asked, tools, stream: true });
  for await (const _ of turn.stream);
  const said = [...asked, ...turn.newMessages() as never[]];
  let last = "";
  for await (const chunk of await llm.chat({ messages: said, stream: true })) last += chunk.delta;
  assertEquals(last, WEATHER_ANSWER);
}

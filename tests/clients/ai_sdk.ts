import { assertEquals } from "@std/assert";
import {
  generateText,
  type LanguageModel,
  type ModelMessage,
  stepCountIs,
  streamText,
  tool,
} from "ai";
import { z } from "zod";
import { ANSWER, QUESTION, TOKENS, WEATHER, WEATHER_ANSWER, WEATHER_QUESTION } from "./service.ts";

const tools = {
  get_weather: tool({
    description: "The weather in a city.",
    inputSchema: z.object({ city: z.string() }),
    execute: () => WEATHER,
  }),
};

/** The Vercel AI SDK, with a model of any of its providers. */
export async function useAiSdk(model: LanguageModel): Promise<void> {
  const whole = await generateText({ model, prompt: QUESTION, maxRetries: 0 });
  assertEquals([whole.text, whole.usage.totalTokens], [ANSWER, TOKENS]);
  const streamed = streamText({ model, prompt: QUESTION, maxRetries: 0 });
  assertEquals([await streamed.text, (await streamed.usage).totalTokens], [ANSWER, TOKENS]);

  const options = { model, prompt: WEATHER_QUESTION, tools, stopWhen: stepCountIs(3) };
  assertEquals((await generateText({ ...options, maxRetries: 0 })).text, WEATHER_ANSWER);
  assertEquals(await streamText({ ...options, maxRetries: 0 }).text, WEATHER_ANSWER);

  // The next turn sends the earlier one back, with the Responses API by the ids of its items.
  const messages: ModelMessage[] = [
    { role: "user", content: QUESTION },
    ...whole.responseMessages,
    { role: "user", content: QUESTION },
  ];
  assertEquals((await generateText({ model, messages, maxRetries: 0 })).text, ANSWER);
}

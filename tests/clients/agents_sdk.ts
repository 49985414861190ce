import { assertEquals } from "@std/assert";
import { Agent, OpenAIProvider, Runner, tool } from "npm:@openai/agents@0.20.0";
import { z } from "zod";
import {
  ANSWER,
  type ClientService,
  MODEL,
  QUESTION,
  WEATHER,
  WEATHER_ANSWER,
  WEATHER_QUESTION,
} from "./service.ts";

/** OpenAI's Agents SDK: by default with the Responses API, and with chat completions. */
export async function useAgentsSdk({ baseURL }: ClientService): Promise<void> {
  for (const useResponses of [true, false]) {
    const modelProvider = new OpenAIProvider({ baseURL, apiKey: "any", useResponses });
    const runner = new Runner({ modelProvider, tracingDisabled: true });
    const agent = new Agent({
      name: "Helper",
      instructions: "Be brief.",
      model: MODEL,
      tools: [tool({
        name: "get_weather",
        description: "The weather in a city.",
        parameters: z.object({ city: z.string() }),
        execute: () => WEATHER,
      })],
    });
    for (const [question, answer] of [[QUESTION, ANSWER], [WEATHER_QUESTION, WEATHER_ANSWER]]) {
      assertEquals((await runner.run(agent, question!)).finalOutput, answer);
      const streamed = await runner.run(agent, question!, { stream: true });
      let text = "";
      for await (const piece of streamed.toTextStream()) text += piece;
      await streamed.completed;
      assertEquals([text, streamed.finalOutput], [answer, answer]);
    }
  }
}

import { assertEquals } from "@std/assert";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { createOpenAI } from "@ai-sdk/openai";
import { Agent } from "npm:@mastra/core@1.71.0/agent";
import { createTool } from "npm:@mastra/core@1.71.0/tools";
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

/** Mastra's agents, over the two providers of the Vercel AI SDK. */
export async function useMastra({ baseURL }: ClientService): Promise<void> {
  const compatible = createOpenAICompatible({ name: "assay", baseURL, apiKey: "any" });
  for (const model of [compatible(MODEL), createOpenAI({ baseURL, apiKey: "any" })(MODEL)]) {
    const agent = new Agent({
      id: "helper",
      name: "Helper",
      instructions: "Be brief.",
      model: model as never,
      tools: {
        get_weather: createTool({
          id: "get_weather",
          description: "The weather in a city.",
          inputSchema: z.object({ city: z.string() }),
          execute: () => Promise.resolve(WEATHER),
        }),
      },
    });
    for (const [question, answer] of [[QUESTION, ANSWER], [WEATHER_QUESTION, WEATHER_ANSWER]]) {
      assertEquals((await agent.generate(question!)).text, answer);
      assertEquals(await (await agent.stream(question!)).text, answer);
    }
  }
}

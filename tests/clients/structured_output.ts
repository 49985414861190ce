import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { assertEquals } from "@std/assert";
import { ChatOpenAI } from "@langchain/openai";
import { generateText, Output, streamText } from "ai";
import OpenAI from "openai";
import { zodResponseFormat, zodTextFormat } from "openai/helpers/zod";
import { z } from "zod";
import {
  type ClientService,
  MODEL,
  PERSON,
  PERSON_QUESTION,
  WEATHER,
  WEATHER_ANSWER,
  WEATHER_QUESTION,
} from "./service.ts";

const Person = z.object({ name: z.string(), born: z.number() });

/** What clients make of an answer that follows a schema, whole and streamed. */
export async function useStructuredOutput(service: ClientService): Promise<void> {
  const before = service.hub.requests.length;
  await useOpenAI(service);
  await useLangChain(service);
  await useAiSdk(service);
  for (const { body } of service.hub.requests.slice(before)) {
    assertEquals(body.response_format?.type, "json_schema");
  }
}

const openai = ({ baseURL }: ClientService) =>
  new OpenAI({ baseURL, apiKey: "any", maxRetries: 0 });

async function useOpenAI(service: ClientService): Promise<void> {
  const { chat, responses } = openai(service);
  const messages = [{ role: "user" as const, content: PERSON_QUESTION }];
  const response_format = zodResponseFormat(Person, "person");
  const asked = { model: MODEL, messages, response_format };
  for (
    const { choices } of [
      await chat.completions.parse(asked),
      await chat.completions.stream(asked).finalChatCompletion(),
    ]
  ) assertEquals(choices[0]?.message.parsed, PERSON);

  const text = { format: zodTextFormat(Person, "person") };
  const wanted = { model: MODEL, input: PERSON_QUESTION, text };
  for (
    const { output_parsed } of [
      await responses.parse(wanted),
      await responses.stream(wanted).finalResponse(),
    ]
  ) assertEquals(output_parsed, PERSON);
}

async function useLangChain({ baseURL }: ClientService): Promise<void> {
  for (const useResponsesApi of [false, true]) {
    const model = new ChatOpenAI({
      model: MODEL,
      apiKey: "any",
      maxRetries: 0,
      useResponsesApi,
      configuration: { baseURL },
    }).withStructuredOutput(Person, { name: "person", method: "jsonSchema" });
    assertEquals(await model.invoke(PERSON_QUESTION), PERSON);
    const pieces = await Array.fromAsync(await model.stream(PERSON_QUESTION));
    assertEquals(pieces.at(-1), PERSON);
  }
}

async function useAiSdk({ baseURL }: ClientService): Promise<void> {
  const assay = createOpenAICompatible({
    name: "assay",
    baseURL,
    apiKey: "any",
    supportsStructuredOutputs: true,
  });
  const output = Output.object({ schema: Person });
  const options = { model: assay(MODEL), prompt: PERSON_QUESTION, output, maxRetries: 0 };
  assertEquals((await generateText(options)).output, PERSON);
  assertEquals(await streamText(options).output, PERSON);
}

/** The loop of OpenAI's package, which runs the caller's tools and asks again by itself. */
export async function useToolRunner(service: ClientService): Promise<void> {
  const { chat } = openai(service);
  const asked = {
    model: MODEL,
    messages: [{ role: "user" as const, content: WEATHER_QUESTION }],
    tools: [{
      type: "function" as const,
      function: {
        name: "get_weather",
        description: "The weather in a city.",
        parameters: { type: "object", properties: { city: { type: "string" } } },
        parse: JSON.parse,
        function: () => WEATHER,
      },
    }],
  };
  assertEquals(await chat.completions.runTools(asked).finalContent(), WEATHER_ANSWER);
  const streamed = chat.completions.runTools({ ...asked, stream: true });
  assertEquals(await streamed.finalContent(), WEATHER_ANSWER);
}

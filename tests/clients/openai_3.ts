import { assertEquals } from "@std/assert";
import { Configuration, OpenAIApi } from "openai-3";
import { readServerSentEvents } from "../../shared/providers/server_sent_events.ts";
import { ANSWER, type ClientService, MODEL, QUESTION, WEATHER_QUESTION } from "./service.ts";

/** OpenAI's package of 2023: axios, and functions instead of tools. */
export async function useOpenAI3({ baseURL }: ClientService): Promise<void> {
  const api = new OpenAIApi(new Configuration({ apiKey: "any", basePath: baseURL }));
  const messages = [{ role: "user" as const, content: QUESTION }];

  const { data } = await api.createChatCompletion({ model: MODEL, messages });
  assertEquals(data.choices[0]?.message?.content, ANSWER);

  const streamed = await api.createChatCompletion(
    { model: MODEL, messages, stream: true },
    { responseType: "text" },
  );
  let text = "";
  const body = new Blob([String(streamed.data)]).stream();
  for await (const event of readServerSentEvents(body)) {
    if (event !== "[DONE]") text += JSON.parse(event).choices[0]?.delta.content ?? "";
  }
  assertEquals(text, ANSWER);

  const called = await api.createChatCompletion({
    model: MODEL,
    messages: [{ role: "user", content: WEATHER_QUESTION }],
    functions: [{ name: "get_weather", parameters: { type: "object", properties: {} } }],
  });
  const [choice] = called.data.choices;
  assertEquals(choice?.finish_reason, "function_call");
  assertEquals(choice?.message?.function_call?.name, "get_weather");

  const models = await api.listModels();
  assertEquals(models.data.data.map(({ id }) => id), [MODEL]);
}

import { assertEquals, assertObjectMatch } from "@std/assert";
import { type ChatCompletionRequestMessage, Configuration, OpenAIApi } from "npm:openai@3.3.0";
import { readServerSentEvents } from "../../shared/providers/server_sent_events.ts";
import {
  ANSWER,
  type ClientService,
  MODEL,
  QUESTION,
  WEATHER,
  WEATHER_ANSWER,
  WEATHER_QUESTION,
} from "./service.ts";

/** What a caller reads of an answer. */
interface Said {
  content: string;
  function_call?: { name?: string; arguments?: string };
  finishReason: string | null | undefined;
}

type Ask = (messages: ChatCompletionRequestMessage[]) => Promise<Said>;

/** OpenAI's package of 2023: axios, functions instead of tools, streams as the caller's business. */
export async function useOpenAI3({ baseURL }: ClientService): Promise<void> {
  const api = new OpenAIApi(new Configuration({ apiKey: "any", basePath: baseURL }));
  const functions = [{ name: "get_weather", parameters: { type: "object", properties: {} } }];

  async function whole(messages: ChatCompletionRequestMessage[]): Promise<Said> {
    const { data } = await api.createChatCompletion({ model: MODEL, messages, functions });
    const { message, finish_reason: finishReason } = data.choices[0]!;
    const { content = "", function_call } = message!;
    return { content: content ?? "", ...(function_call && { function_call }), finishReason };
  }

  async function streamed(messages: ChatCompletionRequestMessage[]): Promise<Said> {
    const { data } = await api.createChatCompletion(
      { model: MODEL, messages, functions, stream: true },
      { responseType: "text" },
    );
    const said: Said = { content: "", finishReason: null };
    for await (const event of readServerSentEvents(new Blob([String(data)]).stream())) {
      if (event === "[DONE]") continue;
      const { delta, finish_reason } = JSON.parse(event).choices[0];
      const { name = "", arguments: args = "" } = delta.function_call ?? {};
      const { name: nameSofar = "", arguments: argsSofar = "" } = said.function_call ?? {};
      said.content += delta.content ?? "";
      said.finishReason ??= finish_reason;
      if (delta.function_call) {
        said.function_call = { name: nameSofar + name, arguments: argsSofar + args };
      }
    }
    return said;
  }

  for (const ask of [whole, streamed]) await useFunctions(ask);
  const models = await api.listModels();
  assertEquals(models.data.data.map(({ id }) => id), [MODEL]);
}

async function useFunctions(ask: Ask): Promise<void> {
  assertEquals(await ask([{ role: "user", content: QUESTION }]), {
    content: ANSWER,
    finishReason: "stop",
  });
  const asked = { role: "user" as const, content: WEATHER_QUESTION };
  const { function_call, finishReason } = await ask([asked]);
  assertEquals(finishReason, "function_call");
  assertObjectMatch(function_call!, { name: "get_weather", arguments: '{"city":"Oslo"}' });
  const answered = await ask([
    asked,
    { role: "assistant", content: "", function_call: function_call! },
    { role: "function", name: "get_weather", content: WEATHER },
  ]);
  assertEquals(answered.content, WEATHER_ANSWER);
}

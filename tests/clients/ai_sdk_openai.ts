import { createOpenAI } from "@ai-sdk/openai";
import { useAiSdk } from "./ai_sdk.ts";
import { type ClientService, MODEL } from "./service.ts";

/** The AI SDK's provider for OpenAI: by default with the Responses API, and with chat completions. */
export async function useAiSdkOpenAI({ baseURL }: ClientService): Promise<void> {
  const openai = createOpenAI({ baseURL, apiKey: "any" });
  for (const model of [openai(MODEL), openai.chat(MODEL)]) await useAiSdk(model);
}

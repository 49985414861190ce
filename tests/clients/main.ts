import { useAgentsSdk } from "./agents_sdk.ts";
import { useAiSdkOpenAI } from "./ai_sdk_openai.ts";
import { useLlamaIndex } from "./llamaindex.ts";
import { useMastra } from "./mastra.ts";
import { useOpenAIMajors } from "./openai_majors.ts";
import { type ClientService, startClientService } from "./service.ts";

/** Further client libraries, which are too large for the suite; the others are in `clients_test.ts`. */
const CLIENTS: Record<string, (service: ClientService) => Promise<void>> = {
  "openai 4 to 6": useOpenAIMajors,
  "the Vercel AI SDK's OpenAI provider": useAiSdkOpenAI,
  "OpenAI's Agents SDK": useAgentsSdk,
  "LlamaIndex": useLlamaIndex,
  "Mastra": useMastra,
};

Deno.test("further client libraries work: whole, streamed, with tools of their own", async (t) => {
  await using service = await startClientService();
  for (const [name, use] of Object.entries(CLIENTS)) {
    await t.step(name, () => use(service));
  }
});

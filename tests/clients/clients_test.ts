import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { assert, assertRejects, assertStringIncludes } from "@std/assert";
import { generateText } from "ai";
import OpenAI from "openai";
import { useAiSdk } from "./ai_sdk.ts";
import { useLangChain } from "./langchain.ts";
import { useOpenAI } from "./openai.ts";
import { MODEL, QUESTION, startClientService } from "./service.ts";
import { useStructuredOutput, useToolRunner } from "./structured_output.ts";

/** The most used client libraries, unchanged, against the real service and a scripted model. */

Deno.test("the most used client libraries work: whole, streamed, with tools of their own", async (t) => {
  await using service = await startClientService();
  await t.step("openai", () => useOpenAI(OpenAI, service));
  await t.step("LangChain", () => useLangChain(service));
  await t.step("the Vercel AI SDK", async () => {
    const assay = createOpenAICompatible({
      name: "assay",
      baseURL: service.baseURL,
      apiKey: "any",
      includeUsage: true,
    });
    await useAiSdk(assay(MODEL));
    const error = await assertRejects(() =>
      generateText({ model: assay("gpt-4o"), prompt: QUESTION, maxRetries: 0 })
    );
    assert(error instanceof Error);
    assertStringIncludes(error.message, "neither a UUID nor <provider>/<model>");
  });
  await t.step("their structured output", () => useStructuredOutput(service));
  await t.step("openai's runner of tools", () => useToolRunner(service));
});

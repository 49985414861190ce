import { assertEquals } from "@std/assert";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { jsonSchema, streamText, tool } from "ai";
import { agentService } from "../../fakes/agent_service.ts";
import { providerOf } from "../../fakes/openai_provider.ts";
import { sse, startProviderDouble } from "../../fakes/provider_double.ts";
import deepseek from "../recordings/deepseek.json" with { type: "json" };
import gemini from "../recordings/gemini.json" with { type: "json" };
import mistral from "../recordings/mistral.json" with { type: "json" };
import ollama from "../recordings/ollama.json" with { type: "json" };
import openai from "../recordings/openai.json" with { type: "json" };
import openrouter from "../recordings/openrouter.json" with { type: "json" };

/** The AI SDK checks each chunk with its own schema; one that does not fit is an error part. */
for (const { model, chunks } of [gemini, deepseek, openai, mistral, ollama, openrouter]) {
  Deno.test(`every chunk of a streamed tool call of ${model} fits the AI SDK's schema`, async () => {
    // The tool of the recording is the caller's here, so its name must not be the agent's own.
    const [first] = JSON.parse(JSON.stringify(chunks).replaceAll('"calculator"', '"their_tool"'));
    await using double = await startProviderDouble(sse(first));
    const { service } = agentService(providerOf(double));
    const provider = createOpenAICompatible({
      name: "agent",
      baseURL: "http://127.0.0.1/v1",
      fetch: async (url, init) => await service(new Request(url, init)),
    });
    const their_tool = tool({
      inputSchema: jsonSchema<object>({ type: "object" }),
      execute: () => "",
    });
    const parts = await Array.fromAsync(
      streamText({
        model: provider(model),
        prompt: "What is 17 * 23?",
        tools: { their_tool },
        maxRetries: 0,
      }).stream,
    );
    assertEquals(parts.filter(({ type }) => type === "error"), []);
    const called = parts.flatMap((part) => part.type === "tool-call" ? [part.toolName] : []);
    assertEquals([...new Set(called)], ["their_tool"]);
  });
}

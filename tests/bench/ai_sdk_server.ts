/**
 * The agent as one would write it with the Vercel AI SDK: the same question, the same tools, the same
 * provider, on `Deno.serve`. `HUB_BASE_URL` names the provider. It checks and counts nothing, so it is
 * the least that such a server costs.
 */
// deno-lint-ignore-file no-console -- it says where it listens, as the services do
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, stepCountIs, streamText, tool } from "ai";
import { z } from "zod";
import { evaluate } from "../../agent/core/tools/arithmetic.ts";

const hub = createOpenAICompatible({
  name: "hub",
  baseURL: Deno.env.get("HUB_BASE_URL")!,
  includeUsage: true,
});

const tools = {
  calculator: tool({
    description: "Works out one arithmetic expression, exactly.",
    inputSchema: z.object({ expression: z.string() }),
    execute: ({ expression }) => evaluate(expression),
  }),
  current_time: tool({
    description: "The current date, time and weekday in a time zone.",
    inputSchema: z.object({ time_zone: z.string().default("UTC") }),
    execute: () => new Date().toISOString(),
  }),
};

const Body = z.object({ messages: z.array(z.object({ type: z.string(), content: z.string() })) });

async function handle(request: Request): Promise<Response> {
  const { messages } = Body.parse(await request.json());
  const call = {
    model: hub(request.headers.get("x-model-id")!),
    system: "You are a helpful assistant. Answer plainly and briefly.",
    messages: messages.map(({ content }) => ({ role: "user" as const, content })),
    tools,
    stopWhen: stepCountIs(12),
    abortSignal: request.signal,
  };
  if (request.headers.get("accept") === "text/event-stream") {
    return streamText(call).toUIMessageStreamResponse();
  }
  const { text, usage, finishReason } = await generateText(call);
  return Response.json({ content: text, usage, finishReason });
}

if (import.meta.main) {
  Deno.serve({
    hostname: "127.0.0.1",
    port: 0,
    onListen: ({ port }) => console.log(`listens on http://127.0.0.1:${port}`),
  }, handle);
}

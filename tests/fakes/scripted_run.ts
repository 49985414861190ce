import { textOf } from "../../shared/providers/content.ts";
import { z } from "zod";
import { type AgentRun, runAgent } from "../../agent/core/run/graph.ts";
import { createToolbox, type Tool } from "../../agent/core/tools/tool.ts";
import type { ToolCall } from "../../shared/providers/provider.ts";
import type { ScriptedProvider, Step } from "./scripted_provider.ts";

/** Returns its argument. */
export const echo: Tool = {
  name: "echo",
  description: "Says it again.",
  schema: z.object({ text: z.string() }),
  run: (args) => `echo: ${(args as { text: string }).text}`,
};

/** A tool without arguments. */
export function tool(name: string, run: Tool["run"]): Tool {
  return { name, description: name, schema: z.object({}), run };
}

/** A call of `echo`, unless the fields say otherwise. */
export function call(fields: Partial<ToolCall> = {}): ToolCall {
  return { id: "c1", name: "echo", arguments: '{"text":"a"}', ...fields };
}

/** A turn of the model that only calls tools. */
export function calls(...toolCalls: ToolCall[]): Step {
  return { content: null, toolCalls };
}

/** Runs the agent with a scripted model, by default with `echo` as its tool. */
export function run(
  provider: ScriptedProvider,
  { tools = [echo], maxSteps = 12, ...more }:
    & { tools?: Tool[]; maxSteps?: number }
    & Partial<Omit<AgentRun, "tools">> = {},
) {
  return runAgent({
    provider,
    model: "a/b",
    messages: [{ role: "user", content: "Hi" }],
    tools: createToolbox(tools),
    settings: { maxSteps },
    ...more,
  });
}

/** The tool messages of the last request to the model, in order. */
export function toolMessages({ requests }: ScriptedProvider): string[] {
  const messages = requests.at(-1)?.messages ?? [];
  return messages.filter(({ role }) => role === "tool").map((message) => textOf(message.content));
}

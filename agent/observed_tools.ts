import type { Metrics } from "../shared/ops/metrics.ts";
import { withSpan } from "../shared/ops/tracing.ts";
import type { Tool, Toolbox, ToolSource } from "./tools/tool.ts";

/** The same tools, whose calls are counted and traced. A tool that there is not is not counted. */
export function observeTools(
  source: ToolSource & Partial<AsyncDisposable>,
  metrics: Metrics,
): ToolSource & AsyncDisposable {
  const observed = new WeakMap<Toolbox, Toolbox>();
  return {
    describe: () => source.describe(),
    current() {
      const tools = source.current();
      const known = observed.get(tools) ?? observeToolbox(tools, metrics);
      observed.set(tools, known);
      return known;
    },
    async [Symbol.asyncDispose]() {
      await source[Symbol.asyncDispose]?.();
    },
  };
}

function observeToolbox(tools: Toolbox, metrics: Metrics): Toolbox {
  return {
    get definitions() {
      return tools.definitions;
    },
    get names() {
      return tools.names;
    },
    find(name) {
      const tool = tools.find(name);
      return tool && { ...tool, run: observeRun(tool, metrics) };
    },
  };
}

function observeRun(tool: Tool, metrics: Metrics): Tool["run"] {
  const span = {
    name: `execute_tool ${tool.name}`,
    attributes: {
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.name": tool.name,
      "gen_ai.tool.type": "function",
    },
  };
  return (args, options) =>
    withSpan(span, async () => {
      const started = performance.now();
      let outcome: "ok" | "error" = "error";
      try {
        const content = await tool.run(args, options);
        outcome = "ok";
        return content;
      } finally {
        const seconds = (performance.now() - started) / 1000;
        metrics.toolCall({ tool: tool.name, outcome, seconds });
      }
    });
}

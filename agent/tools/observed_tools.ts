import { isAbort } from "../../shared/errors.ts";
import type { Metrics } from "../../shared/ops/metrics.ts";
import { withSpan } from "../../shared/ops/tracing.ts";
import type { Tool, Toolbox, ToolSource } from "./tool.ts";

/** The same tools, with every call counted and traced. Calls of unknown tools are not counted. */
export function observeTools(
  source: ToolSource & Partial<AsyncDisposable>,
  metrics: Metrics,
): ToolSource & AsyncDisposable {
  const observed = new WeakMap<Toolbox, Toolbox>();
  const labelOf = createLabels();
  return {
    describe: () => source.describe(),
    current() {
      const tools = source.current();
      const known = observed.get(tools) ?? observeToolbox(tools, { metrics, labelOf });
      observed.set(tools, known);
      return known;
    },
    async [Symbol.asyncDispose]() {
      await source[Symbol.asyncDispose]?.();
    },
  };
}

/** MCP servers may rename their tools at any time, and a metric's labels are never removed. */
const MAX_LABELS = 1_000;

function createLabels(): (name: string) => string {
  const known = new Set<string>();
  return (name) => {
    if (known.size < MAX_LABELS) known.add(name);
    return known.has(name) ? name : "other";
  };
}

interface Observer {
  metrics: Metrics;
  labelOf: (name: string) => string;
}

function observeToolbox(tools: Toolbox, observer: Observer): Toolbox {
  return {
    get definitions() {
      return tools.definitions;
    },
    get names() {
      return tools.names;
    },
    find(name) {
      const tool = tools.find(name);
      return tool && { ...tool, run: observeRun(tool, observer) };
    },
  };
}

function observeRun(tool: Tool, { metrics, labelOf }: Observer): Tool["run"] {
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
      let outcome: "ok" | "error" | "left" = "ok";
      try {
        return await tool.run(args, options);
      } catch (error) {
        const { aborted, reason } = options.signal ?? {};
        const ended = aborted && isAbort(error) ? reason : error; // at its limit: a `TimeoutError`
        outcome = aborted && isAbort(ended) ? "left" : "error";
        throw ended;
      } finally {
        const seconds = (performance.now() - started) / 1000;
        metrics.toolCall({ tool: labelOf(tool.name), outcome, seconds });
      }
    });
}

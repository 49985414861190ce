import { z } from "zod";
import { isAbort } from "../../../shared/service/errors.ts";
import type { Metrics } from "../../../shared/service/ops/metrics.ts";
import { withSpan } from "../../../shared/service/ops/tracing.ts";
import type { ContentPart, ToolDefinition } from "../../../shared/providers/provider.ts";

/** What a tool returns. With images, the text must be sufficient for models that take none. */
export type ToolResult = string | { text: string; images: ContentPart[] };

/**
 * A function that the model may call. `schema` must describe an object; `run` gets the parsed
 * arguments. The model sees the message of a `ToolError`, but not of any other error. A tool is
 * disposed of when the service ends.
 */
export interface Tool<S extends z.ZodType = z.ZodType, R extends ToolResult = ToolResult>
  extends Partial<Disposable> {
  readonly name: string;
  /** Written for the model: what the tool does, and when to use it. */
  readonly description: string;
  readonly schema: S;
  /** The JSON schema that the model sees; made from `schema` if it is unset. */
  readonly parameters?: Record<string, unknown>;
  run(args: z.output<S>, options: {
    /** Aborted when the caller has left; at the time limit, with a `TimeoutError`. */
    signal?: AbortSignal;
    /** The id of the model's call, for traces. */
    callId?: string;
  }): R | Promise<R>;
}

/** A failure whose message the model sees, to correct its call. Contains no secret. */
export class ToolError extends Error {
  override readonly name = "ToolError";
}

/** Tools by name, and their definitions. Created once: converting the schemas takes time. */
export interface Toolbox {
  readonly definitions: ToolDefinition[];
  readonly names: string[];
  find(name: string): Tool | undefined;
}

/** Provides the tools; they may change while the service runs. */
export interface ToolSource {
  /** The current tools. A run reads them once and keeps them. */
  current(): Toolbox;
  /** The body of `GET /tools`. */
  describe(): ToolReport;
}

/** The tools and the servers that they come from. */
export interface ToolReport {
  tools: { name: string; description: string; source: string }[];
  servers: ToolServerState[];
}

/**
 * One MCP server. `error` and `stderr`, the end of what a program has written to standard error,
 * contain no configured secret; `retry_at` is ISO 8601.
 */
export interface ToolServerState {
  name: string;
  transport: "stdio" | "http" | "sse";
  state: "connecting" | "ready" | "down";
  tools: number;
  error?: string;
  stderr?: string;
  retry_at?: string;
}

/** A source whose tools never change. */
export function createFixedTools(tools: Tool[]): ToolSource & AsyncDisposable {
  const toolbox = createToolbox(tools);
  return {
    current: () => toolbox,
    describe: () => ({
      tools: tools.map(({ name, description }) => ({ name, description, source: "built-in" })),
      servers: [],
    }),
    [Symbol.asyncDispose]() {
      for (const tool of tools) tool[Symbol.dispose]?.();
      return Promise.resolve();
    },
  };
}

export function createToolbox(tools: Tool[]): Toolbox {
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  return {
    definitions: tools.map(toDefinition),
    names: [...byName.keys()],
    find: (name) => byName.get(name),
  };
}

function toDefinition({ name, description, schema, parameters }: Tool): ToolDefinition {
  if (parameters) return { name, description, parameters };
  // As input, so that the model may leave out an argument with a default.
  const { $schema: _, ...converted } = z.toJSONSchema(schema, { io: "input" });
  return { name, description, parameters: converted };
}

/** A function name that every provider accepts; `tool` if no character of `name` is usable. */
export function functionName(name: string | null | undefined): string {
  const legal = (name ?? "").trim().replace(/[^a-zA-Z0-9_-]/g, "_").slice(0, 64);
  return /[a-zA-Z0-9]/.test(legal) ? legal : "tool";
}

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
  const name = `execute_tool ${tool.name}`;
  const attributes = {
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": tool.name,
    "gen_ai.tool.type": "function",
  };
  return (args, options) =>
    withSpan({ name, attributes }, async (span) => {
      if (options.callId) span.setAttribute("gen_ai.tool.call.id", options.callId);
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

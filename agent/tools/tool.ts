import { z } from "zod";
import type { ToolDefinition } from "../../shared/providers/provider.ts";

export interface ToolOptions {
  /** Aborted when the caller has left; a tool that takes time ends then. */
  signal?: AbortSignal;
}

/**
 * Something that the model may ask for. `schema` must describe an object; `run` gets what it
 * accepts. A `ToolError` is told to the model word for word, any other error is not. A tool that
 * holds something is disposed of when the service ends.
 */
export interface Tool<S extends z.ZodType = z.ZodType> extends Partial<Disposable> {
  readonly name: string;
  /** Written for the model: what the tool does, and when to use it. */
  readonly description: string;
  readonly schema: S;
  /** What the model is told of the arguments; made from `schema` unless given. */
  readonly parameters?: Record<string, unknown>;
  run(args: z.output<S>, options: ToolOptions): string | Promise<string>;
}

/** A failure that the model may read and mend its call from: no secret, no stack. */
export class ToolError extends Error {
  override readonly name = "ToolError";
}

/** Tools by name, and what a model is told of them. Made once: the schemas take time to convert. */
export interface Toolbox {
  readonly definitions: ToolDefinition[];
  readonly names: string[];
  find(name: string): Tool | undefined;
}

/** Where the tools come from; they may change while the service runs. */
export interface ToolSource {
  /** The tools there are now. A run takes them once, and keeps them. */
  current(): Toolbox;
  /** For `GET /tools`. */
  describe(): ToolReport;
}

/** What people are told of the tools. */
export interface ToolReport {
  tools: { name: string; description: string; source: string }[];
  servers: ToolServerState[];
}

/** One MCP server. `error` is in our words; `retry_at` is ISO 8601. */
export interface ToolServerState {
  name: string;
  transport: "stdio" | "http";
  state: "connecting" | "ready" | "down";
  tools: number;
  error?: string;
  retry_at?: string;
}

/** Tools that are there from the start and stay. */
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
  // As input, so that an argument with a default is one the model may leave out.
  const { $schema: _, ...converted } = z.toJSONSchema(schema, { io: "input" });
  return { name, description, parameters: converted };
}

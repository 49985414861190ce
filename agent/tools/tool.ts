import { z } from "zod";
import type { ToolDefinition } from "../../shared/providers/provider.ts";

export interface ToolOptions {
  /** Aborted when the caller has left; a tool that takes time ends then. */
  signal?: AbortSignal;
}

/**
 * Something that the model may ask for. `schema` must describe an object; `run` gets what it
 * accepts. A `ToolError` is told to the model word for word, any other error is not.
 */
export interface Tool<S extends z.ZodType = z.ZodType> {
  readonly name: string;
  /** Written for the model: what the tool does, and when to use it. */
  readonly description: string;
  readonly schema: S;
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

export function createToolbox(tools: Tool[]): Toolbox {
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  return {
    definitions: tools.map(toDefinition),
    names: [...byName.keys()],
    find: (name) => byName.get(name),
  };
}

function toDefinition({ name, description, schema }: Tool): ToolDefinition {
  // As input, so that an argument with a default is one the model may leave out.
  const { $schema: _, ...parameters } = z.toJSONSchema(schema, { io: "input" });
  return { name, description, parameters };
}

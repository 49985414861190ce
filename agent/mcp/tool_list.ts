import { z } from "zod";
import { asFields, type Fields, isFields } from "../../shared/service/fields.ts";
import { shorten } from "../../shared/service/text.ts";
import { toPortable } from "./input_schema.ts";

/** A tool of a server's list. */
export interface McpToolDefinition {
  name: string;
  description: string;
  inputSchema: Record<string, unknown>;
}

/** The tools of a server that are used. */
export interface McpToolList {
  tools: McpToolDefinition[];
  /** The names of tools whose definitions cannot be used. */
  unusable?: string[];
  /** Set if the list is longer: why the rest was left out. */
  leftOut?: string;
}

/** One page of the protocol. Its tools are checked one by one, so that one invalid tool is skipped. */
export interface ToolPage {
  tools: unknown[];
  nextCursor?: string | undefined;
}

const optionalText = z.string().optional().catch(undefined);

/** Arguments are always sent as an object, even if the schema also allows `null`. */
const ObjectType = z.union([
  z.literal("object"),
  z.array(z.unknown()).refine((types) => types.includes("object")),
]).transform(() => "object");

/**
 * Some servers describe a tool without arguments by `{}`: that is an object without properties.
 * Others, in Go, send `null` for missing fields.
 */
const ListedTool = z.object({
  name: z.string(),
  title: optionalText,
  description: optionalText,
  execution: z.looseObject({ taskSupport: z.unknown() }).optional().catch(undefined),
  inputSchema: z.looseObject({
    type: ObjectType.default("object"),
    properties: z.record(z.string(), z.union([z.boolean(), z.custom<Fields>(isFields)])).nullish(),
    required: z.array(z.string()).nullish(),
  }).transform(({ properties, required, ...rest }) => ({
    ...rest,
    ...(properties && { properties }),
    ...(required && { required }),
  })),
});

/** More than any tool says of itself; it is sent with every call of the model. */
const LONGEST_DESCRIPTION = 20_000;

function readTool(given: unknown): McpToolDefinition | undefined {
  const { data } = ListedTool.safeParse(given);
  // A tool that runs only as a task, which the agent does not start, would refuse every call.
  if (!data || data.execution?.taskSupport === "required") return undefined;
  const { name, title, description, inputSchema } = data;
  const said = [description, title].find((text) => text?.trim());
  return {
    name,
    description: shorten(said ?? name, LONGEST_DESCRIPTION, "… (cut)"),
    inputSchema: toPortable(inputSchema),
  };
}

/** For the log: a name is the server's text, of any length. */
function nameOf(tool: unknown): string {
  const { name } = asFields(tool);
  return typeof name === "string" ? shorten(name, 100) : "(unnamed)";
}

const TOOL_LIST_LIMITS = {
  maxPages: 100,
  maxTools: 1_000,
  /** Of all definitions as JSON. */
  maxCharacters: 8 * 1024 * 1024,
};

/** Names of unusable tools that are kept for the log. */
const MAX_NAMED = 20;

/**
 * Reads a list page by page, up to the limits: a server's list may be endless. If two tools have the
 * same name, the first is used: models refuse a request with duplicate names.
 */
export async function readToolList(
  readPage: (cursor: string | undefined) => Promise<ToolPage>,
  { maxPages, maxTools, maxCharacters } = TOOL_LIST_LIMITS,
): Promise<McpToolList> {
  const tools: McpToolDefinition[] = [];
  const unusable: string[] = [];
  const definitions = new Map<string, string>();
  const list = () => ({ tools, ...(unusable.length > 0 && { unusable }) });
  let characters = 0;
  let cursor: string | undefined;
  for (let page = 0; page < maxPages; page++) {
    const { tools: listed, nextCursor } = await readPage(cursor);
    for (const given of listed) {
      const tool = readTool(given);
      const definition = JSON.stringify(tool) ?? "";
      const known = tool && definitions.get(tool.name);
      if (tool && known === definition) continue;
      if (!tool || known !== undefined) {
        if (unusable.length < MAX_NAMED) unusable.push(nameOf(given));
        continue;
      }
      definitions.set(tool.name, definition);
      characters += definition.length;
      if (tools.length === maxTools) return { ...list(), leftOut: `over ${maxTools} tools` };
      if (characters > maxCharacters) {
        return { ...list(), leftOut: `over ${maxCharacters} characters` };
      }
      tools.push(tool);
    }
    if (!nextCursor) return list();
    if (nextCursor === cursor) {
      return { ...list(), leftOut: "a page that names itself as the next page" };
    }
    cursor = nextCursor;
  }
  return { ...list(), leftOut: `over ${maxPages} pages` };
}

/** A tool of a server's list. */
export interface McpToolDefinition {
  name: string;
  description: string;
  inputSchema: Record<string, unknown>;
}

/** The tools of a server that are used. */
export interface McpToolList {
  tools: McpToolDefinition[];
  /** Set if the list is longer: why the rest was left out. */
  leftOut?: string;
}

/** One page of the protocol. */
export interface ToolPage {
  tools: {
    name: string;
    title?: string | undefined;
    description?: string | undefined;
    inputSchema: Record<string, unknown>;
  }[];
  nextCursor?: string | undefined;
}

export interface ToolListLimits {
  maxPages: number;
  maxTools: number;
  /** Of all definitions as JSON. */
  maxCharacters: number;
}

export const TOOL_LIST_LIMITS: ToolListLimits = {
  maxPages: 100,
  maxTools: 1_000,
  maxCharacters: 8 * 1024 * 1024,
};

/** Reads a list page by page, up to the limits: a server's list may be endless. */
export async function readToolList(
  readPage: (cursor: string | undefined) => Promise<ToolPage>,
  { maxPages, maxTools, maxCharacters }: ToolListLimits = TOOL_LIST_LIMITS,
): Promise<McpToolList> {
  const tools: McpToolDefinition[] = [];
  let characters = 0;
  let cursor: string | undefined;
  for (let page = 0; page < maxPages; page++) {
    const { tools: listed, nextCursor } = await readPage(cursor);
    for (const { name, title, description, inputSchema } of listed) {
      const tool = { name, description: description ?? title ?? name, inputSchema };
      characters += JSON.stringify(tool).length;
      if (tools.length === maxTools) return { tools, leftOut: `over ${maxTools} tools` };
      if (characters > maxCharacters) return { tools, leftOut: `over ${maxCharacters} characters` };
      tools.push(tool);
    }
    if (!nextCursor) return { tools };
    if (nextCursor === cursor) {
      return { tools, leftOut: "a page that names itself as the next page" };
    }
    cursor = nextCursor;
  }
  return { tools, leftOut: `over ${maxPages} pages` };
}

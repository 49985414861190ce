/** What `AGENT_TOOLS` may name, in the order that the model reads the tools. */
export const TOOL_NAMES = ["current_time", "calculator", "fetch_url", "web_search"] as const;
export type ToolName = (typeof TOOL_NAMES)[number];

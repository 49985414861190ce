/** The built-in tools, in the order in which the model sees them. `AGENT_TOOLS` selects from them. */
export const TOOL_NAMES = ["current_time", "calculator", "fetch_url", "web_search"] as const;
export type ToolName = (typeof TOOL_NAMES)[number];

/** A function name that every provider accepts; `tool` if no character of `name` is usable. */
export function functionName(name: string | null | undefined): string {
  const legal = (name ?? "").trim().replace(/[^a-zA-Z0-9_-]/g, "_").slice(0, 64);
  return /[a-zA-Z0-9]/.test(legal) ? legal : "tool";
}

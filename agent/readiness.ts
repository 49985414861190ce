import type { Check } from "../shared/ops/operations.ts";
import type { ToolSource } from "./tools/tool.ts";

/** Names the MCP servers that are not there; why is for `GET /tools`, which asks for a key. */
export function checkMcp(tools: ToolSource): Check {
  return () => {
    const missing = tools.describe().servers.filter(({ state }) => state !== "ready");
    return missing.map(({ name, state }) => `${name} is ${state}`).join(", ") || undefined;
  };
}

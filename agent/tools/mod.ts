import { createCalculator } from "./calculator.ts";
import { createCurrentTime } from "./current_time.ts";
import type { AgentConfig } from "../config.ts";
import { TOOL_NAMES } from "./names.ts";
import type { Tool } from "./tool.ts";

/** The built-in tools that `AGENT_TOOLS` switches on. */
export function createTools({ AGENT_TOOLS }: AgentConfig): Tool[] {
  const create: Record<string, () => Tool> = {
    current_time: () => createCurrentTime(),
    calculator: () => createCalculator(),
  };
  return TOOL_NAMES.filter((name) => AGENT_TOOLS.includes(name)).map((name) => create[name]!());
}

import { createCalculator } from "./calculator.ts";
import { createCurrentTime } from "./current_time.ts";
import type { Tool } from "./tool.ts";

/** Every built-in tool, in the order that the model reads them. */
export function createTools(): Tool[] {
  return [createCurrentTime(), createCalculator()];
}

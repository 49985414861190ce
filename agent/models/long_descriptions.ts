import type { ToolDefinition } from "../../shared/providers/provider.ts";
import { shorten } from "../../shared/shorten.ts";
import type { Adaptation } from "./adapted_requests.ts";

/** Characters of a tool's description that Azure and earlier models of OpenAI take. */
const MAX_DESCRIPTION = 1024;

const TOO_LONG = /\b(too long|max(imum)?[ _]length|at most|less than or equal|fewer than)\b/i;

/** Models get the descriptions of tools as they are, or the start of long ones if they refuse them. */
export const LONG_DESCRIPTIONS: Adaptation = {
  applies: ({ tools = [] }) => tools.some(isLong),
  adapt: ({ tools = [], ...request }) => ({ ...request, tools: tools.map(shortened) }),
  isRefusal: (status, { message }) =>
    [400, 422].includes(status) && /\bdescription\b/i.test(message) && TOO_LONG.test(message),
};

function isLong({ description = "" }: ToolDefinition): boolean {
  return description.length > MAX_DESCRIPTION;
}

function shortened(tool: ToolDefinition): ToolDefinition {
  if (!isLong(tool)) return tool;
  return { ...tool, description: shorten(tool.description ?? "", MAX_DESCRIPTION, "…") };
}

import { type Fields, parseFields } from "../fields.ts";
import { isPlainShape } from "../http/body/json_shape.ts";

/**
 * Parses the arguments of a tool call; `undefined` if they are not a JSON object, or nested so deeply
 * that what reads them later would overflow the stack. An empty text and `null` are an empty object:
 * many models and gateways send it for a tool without arguments.
 */
export function parseToolArguments(text: string): Fields | undefined {
  if (["", "null"].includes(text.trim())) return {};
  return isPlainShape(text) ? parseFields(text) : undefined;
}

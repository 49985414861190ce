import { type Fields, parseFields } from "../fields.ts";

/**
 * Parses the arguments of a tool call; `undefined` if they are not a JSON object. An empty text and
 * `null` are an empty object: many models and gateways send it for a tool without arguments.
 */
export function parseToolArguments(text: string): Fields | undefined {
  return ["", "null"].includes(text.trim()) ? {} : parseFields(text);
}

/**
 * Reads the arguments of a tool call as the model wrote them; `undefined` where they are not a
 * JSON object. No text at all is how many models call a tool that needs nothing.
 */
export function parseArguments(text: string): Record<string, unknown> | undefined {
  if (text.trim() === "") return {};
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    return isObject ? value as Record<string, unknown> : undefined;
  } catch {
    return undefined;
  }
}

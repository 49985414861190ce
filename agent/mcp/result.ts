/** The parts of a call's result that a model can read. */
export interface McpResult {
  content?: unknown;
  structuredContent?: unknown;
}

/** The text of a result. Other content is named by its type. */
export function describeResult({ content, structuredContent }: McpResult): string {
  const parts = Array.isArray(content) ? content.map(describePart).filter(Boolean) : [];
  if (parts.length > 0) return parts.join("\n\n");
  return structuredContent === undefined ? "" : JSON.stringify(structuredContent);
}

function describePart(part: Record<string, unknown>): string {
  switch (part.type) {
    case "text":
      return String(part.text ?? "");
    case "resource": {
      const { text, uri, mimeType } = (part.resource ?? {}) as Record<string, unknown>;
      return typeof text === "string" ? text : `(a resource: ${uri ?? mimeType ?? "unnamed"})`;
    }
    case "resource_link":
      return `(a link: ${part.name ?? ""} ${part.uri ?? ""})`;
    default:
      return `(${part.type ?? "something"}: ${part.mimeType ?? "unknown type"})`;
  }
}

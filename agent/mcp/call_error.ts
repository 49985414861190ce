import { AnswerTooLarge } from "../../shared/http/fetch/outgoing_fetch.ts";
import { MAX_MESSAGE_BYTES } from "./message_limits.ts";

/** The codes of errors that the SDK makes itself: the connection was closed, the request timed out. */
const SDK_CODES: readonly unknown[] = [-32000, -32001];

/** True for an error that the server sent by the protocol. One that does not know `ping` answers so. */
export function isAnswer(error: unknown): boolean {
  return isMcpError(error) && !SDK_CODES.includes((error as { code?: unknown }).code);
}

/** MCP over HTTP: 404 in answer to a request of a session means that it has ended. */
export function isForgotten(error: unknown): boolean {
  return error instanceof Error && (error as { code?: unknown }).code === 404;
}

function isMcpError(error: unknown): error is Error {
  return error instanceof Error && error.name === "McpError";
}

/**
 * The message of an error that the server sent by the protocol, without its codes and without
 * secrets. Other errors are not shown: those of a transport contain the raw body of an answer, or an
 * address with its query.
 */
export function explainCall(error: unknown, redact: (text: string) => string): string | undefined {
  if (error instanceof AnswerTooLarge) return `its result is over ${MAX_MESSAGE_BYTES} bytes`;
  if (!isMcpError(error)) return undefined;
  return redact(error.message.replace(/^(MCP error -?\d+: )+/, ""));
}

import { type DecodedAnswer, NotJson, parseJsonAnswer } from "../../shared/http/utf8.ts";
import { unreadable } from "../../shared/providers/failed_answer.ts";

/**
 * Reads a whole answer. Throws a `CallFailure` if it is not JSON, or if `parse` returns nothing for
 * it. A completion under another content type is a page of something else.
 */
export async function readAnswer<T>(
  response: Response,
  parse: (answer: DecodedAnswer) => T | undefined,
): Promise<T> {
  const bytes = await response.arrayBuffer(); // also of a page: a slow one is slow, not unreadable
  const parsed = isJson(response) ? tryParse(bytes, parse) : undefined;
  if (parsed === undefined) throw unreadable(response, new TextDecoder().decode(bytes));
  return parsed;
}

/** True if the answer says that it is JSON. */
export function isJson({ headers }: Response): boolean {
  return /[/+]json\b/.test(headers.get("content-type") ?? "");
}

function tryParse<T>(
  bytes: ArrayBuffer,
  parse: (answer: DecodedAnswer) => T | undefined,
): T | undefined {
  try {
    return parse(parseJsonAnswer(bytes));
  } catch (error) {
    if (error instanceof NotJson) return undefined;
    throw error;
  }
}

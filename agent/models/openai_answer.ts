import { type DecodedAnswer, NotJson, parseJsonAnswer } from "../../shared/http/utf8.ts";
import { unreadable } from "../../shared/providers/failed_answer.ts";
import { bareFailure, hiddenFailure } from "../../shared/providers/hidden_error.ts";
import { parseReply } from "../../shared/providers/openai_messages.ts";
import type { ChatReply } from "../../shared/providers/provider.ts";

/**
 * Reads a whole answer. Throws a `CallFailure` if it is not JSON, or if `parse` returns nothing for
 * it: with the status of the error if it is one. A completion under another content type is a page of
 * something else.
 */
export async function readAnswer<T>(
  response: Response,
  parse: (answer: DecodedAnswer) => T | undefined,
): Promise<T> {
  const bytes = await response.arrayBuffer(); // also of a page: a slow one is slow, not unreadable
  const answer = isJson(response) ? tryParse(bytes) : undefined;
  const parsed = answer && parse(answer);
  if (parsed !== undefined) return parsed;
  throw hiddenFailure(response, answer?.value) ?? bareFailure(response, answer?.value) ??
    unreadable(response, new TextDecoder().decode(bytes));
}

/** Reads a completion. Throws the error of its choice, even if that has a part of a reply. */
export async function readReply(response: Response, model: string): Promise<ChatReply> {
  return await readAnswer(response, (answer) => {
    const failure = hiddenFailure(response, answer.value);
    if (failure) throw failure;
    return parseReply(answer, model);
  });
}

/** True if the answer says that it is JSON. */
export function isJson({ headers }: Response): boolean {
  return /[/+]json\b/.test(headers.get("content-type") ?? "");
}

function tryParse(bytes: ArrayBuffer): DecodedAnswer | undefined {
  try {
    return parseJsonAnswer(bytes);
  } catch (error) {
    if (error instanceof NotJson) return undefined;
    throw error;
  }
}

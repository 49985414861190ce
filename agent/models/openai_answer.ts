import { asFields } from "../../shared/fields.ts";
import { type DecodedAnswer, NotJson, parseJsonAnswer } from "../../shared/http/body/utf8.ts";
import { unreadable } from "../../shared/providers/failed_answer.ts";
import { bareFailure, hiddenFailure } from "../../shared/providers/hidden_error.ts";
import { parseReply } from "../../shared/providers/openai_messages.ts";
import type { ChatReply } from "../../shared/providers/provider.ts";

/**
 * Reads a whole answer. Throws a `CallFailure` if it is not JSON, or if `parse` returns nothing for
 * it: with the status of the error if it is one. The content type does not matter: small gateways
 * send none, `text/plain`, or Flask's `text/html`.
 */
export async function readAnswer<T>(
  response: Response,
  parse: (answer: DecodedAnswer) => T | undefined,
): Promise<T> {
  const bytes = await response.arrayBuffer(); // also of a page: a slow one is slow, not unreadable
  const answer = tryParse(bytes);
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

/** The same for a completion that is passed through: the errors of choices are the caller's to read. */
export async function readRawReply(response: Response, model: string): Promise<RawReply> {
  return await readAnswer(response, (answer) => {
    const reply = parseReply(answer, model);
    return reply && { ...reply, raw: asFields(answer.value) };
  });
}

export type RawReply = ChatReply & Required<Pick<ChatReply, "raw">>;

/**
 * Whether an answer is one JSON text, from its content type or, if that says neither that nor events,
 * from its first character. `answer` is the one to read on.
 */
export async function peekJson(
  response: Response,
): Promise<{ isJson: boolean; answer: Response }> {
  const type = response.headers.get("content-type") ?? "";
  const isJson = /[/+]json\b/.test(type);
  if (isJson || type.includes("event-stream") || !response.body) {
    return { isJson, answer: response };
  }
  return await peekBody(response);
}

/** The same from the first character alone. */
export async function peekBody(
  response: Response,
): Promise<{ isJson: boolean; answer: Response }> {
  if (!response.body) return { isJson: false, answer: response };
  const [first, body] = response.body.tee();
  const { status, statusText, headers } = response;
  const answer = new Response(body, { status, statusText, headers });
  return { isJson: /^[[{]/.test(await readBeginning(first)), answer };
}

/** The text up to its first characters that are not blank. */
async function readBeginning(body: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<string> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  for (let next; !text && !(next = await reader.read()).done;) {
    text = decoder.decode(next.value, { stream: true }).trimStart();
  }
  reader.cancel().catch(() => {}); // settles when the other branch has been read
  return text;
}

function tryParse(bytes: ArrayBuffer): DecodedAnswer | undefined {
  try {
    return parseJsonAnswer(bytes);
  } catch (error) {
    if (error instanceof NotJson) return undefined;
    throw error;
  }
}

import { untilAbort } from "../abort.ts";
import { tryParseJson } from "../fields.ts";
import { CallFailure, type FailedAnswer } from "./failure.ts";
import { dropCutWord, MAX_READ } from "./provider_words.ts";

/** The status is known: what it says may not keep anybody waiting. */
const MAX_WAIT_MS = 2_000;

/** Passes an answer of success on. Throws a `CallFailure` with the words of any other. */
export async function requireOk(response: Response): Promise<Response> {
  if (response.ok) return response;
  const { status, headers } = response;
  const body = await readStart(response);
  throw new CallFailure({ failure: { kind: "status", status }, answer: { status, headers, body } });
}

/** The failure of an answer that is not what was asked for; `body` as far as it is known. */
export function unreadable({ status, headers }: Response, body: string): CallFailure {
  const answer: FailedAnswer = { status, headers, body };
  return new CallFailure({ failure: { kind: "unreadable" }, answer });
}

/** The text of an answer, as far as it comes within the limits, to the last word. Never rejects. */
export async function readStart({ body }: Response): Promise<string> {
  if (!body) return "";
  const reader = body.getReader();
  const decoder = new TextDecoder();
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(), MAX_WAIT_MS);
  let text = "";
  let isWhole = false;
  try {
    for (let bytes = 0; bytes < MAX_READ;) {
      const { done, value } = await untilAbort(reader.read(), limit.signal);
      isWhole = done;
      if (done) break;
      bytes += value.byteLength;
      text += decoder.decode(value, { stream: true });
    }
  } catch {
    // What has come is enough.
  }
  clearTimeout(timer);
  reader.cancel().catch(() => {});
  // JSON that can be read is whole, even if its connection stays open.
  return isWhole || typeof tryParseJson(text) === "object" ? text : dropCutWord(text);
}

import { asFields, asList, isFields } from "../fields.ts";
import { CallFailure } from "./failure.ts";

/**
 * The failure of an error that came with status 200, such as `{"error": {"code": 429}}`: that of an
 * answer with the status that it tells. `undefined` if the answer is no error.
 */
export function hiddenFailure({ headers }: Response, value: unknown): CallFailure | undefined {
  const body = asFields([value].flat()[0]); // Gemini puts an error into a list
  const choice = asFields(asList(body.choices)[0]);
  if (isFields(choice.message) && !choice.error) return undefined;
  const error = body.error || choice.error;
  if (!error) return undefined;
  const { code, status: named, type } = asFields(error);
  const told = [code, named, body.code, body.status].map(Number)
    .find((number) => number >= 400 && number <= 599);
  const status = told ?? statusOf(`${code} ${type}`);
  const { choices: _, ...rest } = body; // may have a part of the reply
  const words = JSON.stringify({ ...rest, error });
  return new CallFailure({
    failure: { kind: "status", status },
    answer: { status, headers, body: words },
  });
}

/**
 * The failure of an answer or an event that is an error by itself, without a field `error`:
 * `{"object": "error", "message": …}` (vLLM, Mistral), `{"detail": …}` (FastAPI).
 */
export function bareFailure(response: Response, value: unknown): CallFailure | undefined {
  const { object, type, detail, choices, content } = asFields(value);
  const isError = /^error$/i.test(String(object ?? type)) || Boolean(detail);
  if (!isError || choices || content) return undefined;
  return hiddenFailure(response, { error: value });
}

const WORDS: [RegExp, number][] = [
  [/rate_limit|quota|overloaded/i, 429],
  [/auth|api_key|permission/i, 401],
  [/invalid|context_length|not_found|content/i, 400],
];

/** By the words that providers use as codes and types; 500 if they say nothing. */
function statusOf(words: string): number {
  return WORDS.find(([pattern]) => pattern.test(words))?.[1] ?? 500;
}

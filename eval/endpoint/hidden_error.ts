import { asFields, asList, isFields } from "../../shared/fields.ts";

/**
 * The status of an error that came with status 200, such as `{"error": {"code": 429}}`, as far as
 * the body tells; `undefined` if the answer is no error.
 */
export function hiddenErrorStatus(value: unknown): number | undefined {
  const body = asFields(value);
  const choice = asFields(asList(body.choices)[0]);
  if (isFields(choice.message) && !choice.error) return undefined;
  const error = body.error || choice.error;
  if (!error) return undefined;
  const { code, status, type } = asFields(error);
  const told = [code, status, body.code, body.status].map(Number)
    .find((number) => number >= 400 && number <= 599);
  return told ?? statusOf(`${code} ${type}`);
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

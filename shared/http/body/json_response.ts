/** In characters. Longer texts are sent in pieces, as any other body. */
const SHORT_TEXT = 64 * 1024;

const shortTexts = new WeakMap<Response, string>();

/**
 * As `Response.json`, for answers that are sent often: `sendResponse` gets a short text as it is, and
 * need not read it back from a stream.
 */
export function jsonResponse(
  value: unknown,
  { headers = {} }: { headers?: Record<string, string> } = {},
): Response {
  const text = JSON.stringify(value);
  const response = new Response(text, {
    headers: { "content-type": "application/json", ...headers },
  });
  if (text.length <= SHORT_TEXT) shortTexts.set(response, text);
  return response;
}

/** The text of an answer of `jsonResponse`, if it is short. */
export function shortTextOf(response: Response): string | undefined {
  return shortTexts.get(response);
}

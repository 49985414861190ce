const CONTENT_POLICY = "default-src 'none'; base-uri 'none'; form-action 'none'; " +
  "frame-ancestors 'none'";

const HEADERS: Record<string, string> = {
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  // Answers are private to one caller: no cache may keep them.
  "cache-control": "no-store",
  // Answers are no pages; a route that serves a page sets its own policy.
  "content-security-policy": CONTENT_POLICY,
};

/** Sets the headers of every answer; a route may have set its own before. */
export function secureHeaders(headers: Headers): void {
  for (const [name, value] of Object.entries(HEADERS)) {
    if (!headers.has(name)) headers.set(name, value);
  }
}

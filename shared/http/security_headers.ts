const CONTENT_POLICY = "default-src 'none'; base-uri 'none'; form-action 'none'; " +
  "frame-ancestors 'none'";

const HEADERS: Record<string, string> = {
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  // An answer is one caller's own, and often a secret of theirs: no cache keeps it.
  "cache-control": "no-store",
  // Nothing served here is a document; a route that serves a page sets a policy of its own.
  "content-security-policy": CONTENT_POLICY,
};

/** Sets what every answer carries, but leaves what a route has set on purpose. */
export function secureHeaders(headers: Headers): void {
  for (const [name, value] of Object.entries(HEADERS)) {
    if (!headers.has(name)) headers.set(name, value);
  }
}

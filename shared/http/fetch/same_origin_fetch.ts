const MAX_REDIRECTS = 5;

/**
 * A `fetch` that follows redirects within one origin, with method and body kept, and hands back the
 * redirect itself if it leads to another origin: the request, above all its credential, is meant for
 * the configured origin only. The last redirect of a circle is handed back with the path `/` as its
 * `location`. The body must be a string, so that it can be resent.
 */
export function createSameOriginFetch(fetch: typeof globalThis.fetch): typeof globalThis.fetch {
  return async (input, init) => {
    let url = input instanceof Request ? input.url : String(input);
    for (let hop = 0;; hop++) {
      const response = await fetch(url, { ...init, redirect: "manual" });
      const location = response.headers.get("location");
      if (response.status < 300 || response.status > 399 || location === null) return response;
      const next = URL.parse(location, url);
      if (next?.origin !== new URL(url).origin) return response;
      await response.body?.cancel();
      if (hop === MAX_REDIRECTS) {
        return new Response(null, {
          status: response.status,
          headers: { location: "/" },
        });
      }
      url = next.href;
    }
  };
}

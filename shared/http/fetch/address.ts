/** `::ffff:10.0.0.1`, as sockets that speak both families have it, is `10.0.0.1`. */
export function plainAddress(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, "");
}

/** One entry of `x-forwarded-for` as an address: some proxies write the caller's port behind it. */
export function forwardedAddress(entry: string): string {
  const [, bracketed, plain] = /^(?:\[([^\]]*)\](?::\d+)?|([\d.]+):\d+)$/.exec(entry.trim()) ?? [];
  return plainAddress(bracketed ?? plain ?? entry.trim());
}

/** `https://host/v1?key=…` and `/models` → `https://host/v1/models?key=…`: a query stays a query. */
export function extendAddress(address: string, path: string): string {
  const url = new URL(address);
  url.pathname = url.pathname.replace(/\/+$/, "") + path;
  return url.href;
}

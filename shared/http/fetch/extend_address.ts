/** `https://host/v1?key=…` and `/models` → `https://host/v1/models?key=…`: a query stays a query. */
export function extendAddress(address: string, path: string): string {
  const url = new URL(address);
  url.pathname = url.pathname.replace(/\/+$/, "") + path;
  return url.href;
}

/** Ports that browsers leave out of an origin. */
const DEFAULT_PORTS: Record<string, string> = { http: "80", https: "443" };

/**
 * Why an entry of `CORS_ORIGINS` matches no origin that a browser sends; `undefined` if it can. An
 * origin is `scheme://host`, or with a port that is not the scheme's own; `*` may stand for a port or
 * a part of the host.
 */
export function explainDeadOrigin(entry: string): string | undefined {
  if (entry === "*" || entry === "null") return undefined; // `null` is the origin of a local file
  const [, scheme = "", host = "", port = "", rest = ""] =
    /^([a-z][a-z\d+.-]*):\/\/(\[[\da-f:.]+\]|[^/:@?#\s]+)(?::(\d+|\*))?(.*)$/i.exec(entry) ?? [];
  if (host === "") return "write it with its scheme, like https://app.example.com";
  if (rest !== "" && rest !== "/") return "an origin has no path: end it after the host or port";
  if (DEFAULT_PORTS[scheme.toLowerCase()] === port) return `browsers leave out port ${port}`;
  // deno-lint-ignore no-control-regex -- everything that is not ASCII
  if (/[^\x00-\x7f]/.test(host)) return "browsers send the name in ASCII (xn--…)";
}

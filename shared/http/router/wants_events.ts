import { accepts } from "@std/http/negotiation";

const CHARSET = /;\s*charset\s*=\s*("[^"]*"|[^;,\s]*)/gi;

/**
 * Whether the caller prefers a stream of events to JSON. JSON if there is no preference: a stream
 * must be asked for. A charset in `Accept` is ignored, because both are UTF-8.
 */
export function wantsEvents(request: Request): boolean {
  const accept = request.headers.get("accept")?.replaceAll(CHARSET, "") ?? "*/*";
  const asked = { headers: new Headers({ accept }) };
  return accepts(asked, "application/json", "text/event-stream") === "text/event-stream";
}

import type { Protocol } from "../test/evaluate_request.ts";

/** What stands in place of an address if no endpoint was asked. */
export const GIVEN_REPLIES = "scored from existing replies";

/** The chat route of OpenAI-compatible servers, below their base address. */
export const COMPLETIONS_PATH = "/chat/completions";

/** A path such as `/v1` or `/api/v1beta/openai` names the API itself. */
const HAS_VERSION = /\/v\d+\w*(\/|$)/;

/** True if the address is that of the chat route itself. */
export function namesRoute(endpoint: string): boolean {
  return pathOf(endpoint).endsWith(COMPLETIONS_PATH);
}

/** True if the address is that of an OpenAI-compatible API, or of its chat route. */
export function namesApi(endpoint: string): boolean {
  return namesRoute(endpoint) || HAS_VERSION.test(pathOf(endpoint));
}

/** How an endpoint is asked, if the request tells; otherwise the first call finds it out. */
export function endpointKind(
  { endpoint, protocol }: { endpoint?: string | undefined; protocol?: Protocol | undefined },
): Protocol | undefined {
  return protocol ?? (endpoint !== undefined && namesApi(endpoint) ? "openai" : undefined);
}

/**
 * The base addresses of an OpenAI-compatible API that an endpoint may mean, most likely first, with
 * the endpoint's query. Servers such as Ollama answer below `/v1`, also if a proxy has put them below
 * a path.
 */
export function baseAddresses(endpoint: string): string[] {
  const { origin, search } = new URL(endpoint);
  const path = pathOf(endpoint);
  const at = (pathname: string) => origin + pathname + search;
  if (namesRoute(endpoint)) return [at(path.slice(0, -COMPLETIONS_PATH.length))];
  return namesApi(endpoint) ? [at(path)] : [at(path), at(`${path}/v1`)];
}

/** An address for messages, without its query: callers put secrets there. */
export function withoutQuery(address: string): string {
  const { origin, pathname } = new URL(address);
  return origin + pathname.replace(/\/+$/, "");
}

function pathOf(endpoint: string): string {
  return new URL(endpoint).pathname.replace(/\/+$/, "");
}

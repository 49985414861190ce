import { createEndpointPace, type EndpointPace } from "./pace.ts";

/** Callers choose endpoints, so what is remembered of them is bounded. */
const MOST_ENDPOINTS = 256;

/** One pace an origin, shared by all runs against it. */
export function createEndpointPaces(most: number): (endpoint: string) => EndpointPace {
  const paces = new Map<string, EndpointPace>();
  return (endpoint) => {
    const { origin } = new URL(endpoint);
    const pace = paces.get(origin) ?? createEndpointPace(most);
    paces.delete(origin); // and set again, so that the first is the one not used for longest
    paces.set(origin, pace);
    const [oldest] = paces.keys();
    if (paces.size > MOST_ENDPOINTS && oldest !== undefined) paces.delete(oldest);
    return pace;
  };
}

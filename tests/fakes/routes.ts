import type { Handler, Route } from "../../shared/http/router.ts";

/** Routes by `METHOD /path`, with the smallest valid description. */
export function routesOf(
  handlers: Record<string, Handler>,
  more: Pick<Route, "needsKey" | "limited"> = {},
): Route[] {
  return Object.entries(handlers).map(([key, handler]) => {
    const [method, path] = key.split(" ") as [Route["method"], Route["path"]];
    return { method, path, handler, summary: key, answers: {}, ...more };
  });
}

/** The name and description of a test's service. */
export const about = { name: "assay-test", description: "A service of a test." };

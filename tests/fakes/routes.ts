import type { Handler, Route } from "../../shared/http/router/router.ts";

/** Routes by `METHOD /path`, with the least description that there can be. */
export function routesOf(
  handlers: Record<string, Handler>,
  more: Pick<Route, "needsKey" | "limited"> = {},
): Route[] {
  return Object.entries(handlers).map(([key, handler]) => {
    const [method, path] = key.split(" ") as [Route["method"], Route["path"]];
    return { method, path, handler, summary: key, answers: {}, ...more };
  });
}

/** What a test's service says about itself. */
export const about = { name: "assay-test", description: "A service of a test." };

/** What is looked up: a method and a path such as `/runs/:id`, `/assets/*` or `/models/*id`. */
export interface RoutePath {
  method: string;
  path: string;
}

export interface RouteMatch<R extends RoutePath> {
  /** Missing if no route has this path and method. */
  route?: R;
  /** Values of the `:name` parts as they were sent, and of a final `*`, whose name is `rest`. */
  params: Record<string, string>;
  /** The methods that the path has, if none of them is the one asked for. */
  allowed: string[];
}

/**
 * Finds the route of a request. A path without parameters goes before one with them, and a prefix
 * (`/assets/*`) comes last, so that the order of the table does not matter. `HEAD` finds the route
 * of `GET`. Throws if two routes have the same method and path.
 */
export function createRouteTable<R extends RoutePath>(
  routes: readonly R[],
): (method: string, pathname: string) => RouteMatch<R> {
  const fixed = new Map<string, R[]>();
  const patterns: { route: R; read: PathReader }[] = [];
  const seen = new Set<string>();
  for (const route of routes) {
    const key = `${route.method} ${route.path}`;
    if (seen.has(key)) throw new Error(`two routes are ${key}`);
    seen.add(key);
    if (/[:*]/.test(route.path)) patterns.push({ route, read: createPathReader(route.path) });
    else fixed.set(route.path, [...fixed.get(route.path) ?? [], route]);
  }
  patterns.sort((a, b) => Number(isPrefix(a.route)) - Number(isPrefix(b.route)));

  return (method, pathname) => {
    const wanted = method === "HEAD" ? "GET" : method;
    const allowed: string[] = [];
    for (const route of fixed.get(pathname) ?? []) {
      if (route.method === wanted) return { route, params: {}, allowed };
      allowed.push(route.method);
    }
    for (const { route, read } of patterns) {
      const params = read(pathname);
      if (!params) continue;
      if (route.method === wanted) return { route, params, allowed };
      allowed.push(route.method);
    }
    return { params: {}, allowed };
  };
}

function isPrefix({ path }: RoutePath): boolean {
  return /\/\*\w*$/.test(path);
}

/** The parameters of a path; `undefined` if it is another path. */
type PathReader = (pathname: string) => Record<string, string> | undefined;

/** By a regular expression: `URLPattern` takes some twenty times as long for the same answer. */
function createPathReader(path: string): PathReader {
  const names: string[] = [];
  const source = path.split("/").map((part, index, parts) => {
    if (part.startsWith(":")) {
      names.push(part.slice(1));
      return "([^/]+)";
    }
    if (/^\*\w*$/.test(part) && index === parts.length - 1) {
      names.push(part.slice(1) || "rest");
      return "(.+)";
    }
    if (/[:*]/.test(part)) throw new Error(`cannot route ${path}: "${part}" is not supported`);
    return part.replaceAll(/[.+?^${}()|[\]\\]/g, "\\$&");
  });
  const pattern = new RegExp(`^${source.join("/")}$`);
  return (pathname) => {
    const found = pattern.exec(pathname);
    if (!found) return undefined;
    const params: Record<string, string> = {};
    for (const [index, name] of names.entries()) params[name] = found[index + 1]!;
    return params;
  };
}

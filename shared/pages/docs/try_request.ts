import type { ApiRoute } from "./api_document.ts";

/** What the person entered for a route. */
export interface TryValues {
  /** By the parameter's place and name, such as `query limit`. */
  values: Record<string, string>;
  body: string;
  /** The content type that is asked for. */
  accept: string;
}

/** The request of a form, and the same as a command. */
interface TryRequest {
  method: string;
  path: string;
  headers: Record<string, string>;
  body?: string;
}

/** A form as it is before anything was entered: examples, and the first content type. */
export function emptyForm(route: ApiRoute): TryValues {
  const example = route.requestBody?.content["application/json"]?.example;
  const values = (route.parameters ?? [])
    .filter(({ required, schema }) => required && schema?.example !== undefined)
    .map((parameter) => [`${parameter.in} ${parameter.name}`, String(parameter.schema!.example)]);
  return {
    values: Object.fromEntries(values),
    body: example === undefined ? "" : JSON.stringify(example, null, 2),
    accept: acceptsOf(route)[0] ?? "application/json",
  };
}

/** The content types that a route can answer with. */
export function acceptsOf({ responses }: ApiRoute): string[] {
  const successes = Object.entries(responses).filter(([status]) => status.startsWith("2"));
  return [...new Set(successes.flatMap(([, { content }]) => Object.keys(content ?? {})))];
}

/** Names of required parameters that are empty, and `body` if it is not JSON. */
export function findMissing(route: ApiRoute, { values, body }: TryValues): string[] {
  const missing = (route.parameters ?? [])
    .filter((parameter) => parameter.required && !values[`${parameter.in} ${parameter.name}`])
    .map(({ name }) => name);
  return route.requestBody && !isJson(body) ? [...missing, "body"] : missing;
}

export function toTryRequest(route: ApiRoute, { values, body, accept }: TryValues): TryRequest {
  const query = new URLSearchParams();
  const headers: Record<string, string> = { accept };
  let path = route.path;
  for (const { in: place, name } of route.parameters ?? []) {
    const value = values[`${place} ${name}`];
    if (!value) continue;
    if (place === "path") path = path.replace(`{${name}}`, encodeURIComponent(value));
    if (place === "query") query.set(name, value);
    if (place === "header") headers[name] = value;
  }
  return {
    method: route.method,
    path: query.size > 0 ? `${path}?${query}` : path,
    headers: { ...headers, ...(route.requestBody && { "content-type": "application/json" }) },
    ...(route.requestBody && { body }),
  };
}

/** The request as a command for a shell. */
export function toCurl({ method, path, headers, body }: TryRequest, origin: string): string {
  const parts = [
    `curl -s ${quote(origin + path)}`,
    ...(method === "GET" || (method === "POST" && body) ? [] : [`-X ${method}`]),
    ...Object.entries(headers).map(([name, value]) => `-H ${quote(`${name}: ${value}`)}`),
    ...(body ? [`-d ${quote(body)}`] : []),
  ];
  return parts.join(" \\\n  ");
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

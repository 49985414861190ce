import { z } from "zod";
import type { Route } from "../http/router/router.ts";
import { type About, jsonAnswer, type RouteDescription, templateOf } from "./api_description.ts";

const ServiceIndex = z.looseObject({
  name: z.string(),
  about: z.string(),
  endpoints: z.record(z.string(), z.string()),
}).meta({ id: "ServiceIndex" });

/** `GET /`: what the service is, and its routes. `more` adds fields that may change. */
export function createIndexRoute(
  { name, description }: About,
  { routes, more }: { routes: readonly RouteDescription[]; more?: () => Record<string, unknown> },
): Route {
  const endpoints = Object.fromEntries(routes.map(toEntry));
  return {
    method: "GET",
    path: "/",
    summary: "What the service is",
    answers: { 200: jsonAnswer("Its name and routes.", ServiceIndex) },
    handler: () => Response.json({ name, about: description, endpoints, ...more?.() }),
  };
}

function toEntry({ method, path, summary, index = {} }: RouteDescription): [string, string] {
  const query = index.query === undefined ? "" : `?${index.query}`;
  const text = index.text ?? summary.charAt(0).toLowerCase() + summary.slice(1);
  return [`${method} ${templateOf(path)}${query}`, text];
}

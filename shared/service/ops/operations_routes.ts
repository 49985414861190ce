import { z } from "zod";
import type { Route } from "../../http/router.ts";
import { type About, jsonAnswer, type RouteDescription, templateOf } from "./api_description.ts";
import { loadApart } from "../waiting.ts";
import { describeVersion } from "./version.ts";
import type { Metrics } from "./metrics.ts";

/** The reason why a part of the service does not work; `undefined` if it works. */
export type ReadinessCheck = () => string | undefined | Promise<string | undefined>;

/** How a service is monitored. */
export interface Operations {
  metrics: Metrics;
  /** By part of the service: `providers`, `store`. */
  checks: Record<string, ReadinessCheck>;
  /** The same for parts that the service can work without: shown, but it stays ready. */
  details?: Record<string, ReadinessCheck>;
}

const Readiness = z.object({
  status: z.string(),
  reasons: z.record(z.string(), z.string()),
  details: z.record(z.string(), z.string()).optional().meta({
    description: "What is missing, but is no reason not to send work here.",
  }),
}).meta({ id: "Readiness" });

const Versions = z.object({
  name: z.string(),
  version: z.string(),
  commit: z.string(),
  deno: z.string(),
  libraries: z.record(z.string(), z.string()),
}).meta({ id: "Version" });

const Health = z.object({ status: z.literal("ok") }).meta({ id: "Health" });

/** The routes for operators and their tools. `others` are the routes of the service itself. */
export function createOperationsRoutes(
  about: About,
  { operations: { metrics, checks, details }, others }: {
    operations: Operations;
    others: readonly Route[];
  },
): Route[] {
  const version = describeVersion(about.name);
  let document: string | undefined; // made once, at the first request: it takes time

  async function describe() {
    const { createApiDocument } = await loadApart(() => import("./api_document.ts"));
    return createApiDocument(about, { version, routes: [...others, ...routes] });
  }

  const routes: Route[] = [
    {
      method: "GET",
      path: "/healthz",
      summary: "Is the process alive?",
      needsKey: false, // probes have none, and come often, from one address
      limited: false,
      answers: { 200: jsonAnswer("It is.", Health) },
      handler: () => Response.json({ status: "ok" }),
    },
    {
      method: "GET",
      path: "/readyz",
      summary: "Can the service take work?",
      needsKey: false,
      limited: false,
      answers: {
        200: jsonAnswer("It can.", Readiness),
        503: jsonAnswer("It cannot; the reasons say why.", Readiness),
      },
      handler: async (_request, { connection }) => {
        const stopping = () => connection.admission?.isStopping ? "stopping" : undefined;
        const [reasons, missing] = await Promise.all([
          failing({ ...checks, service: stopping }),
          failing(details ?? {}),
        ]);
        const isReady = Object.keys(reasons).length === 0;
        return Response.json({
          status: isReady ? "ready" : "not ready",
          reasons,
          details: details && missing,
        }, { status: isReady ? 200 : 503 });
      },
    },
    {
      method: "GET",
      path: "/version",
      summary: "What runs here",
      answers: { 200: jsonAnswer("Versions.", Versions) },
      handler: () => Response.json(version),
    },
    {
      method: "GET",
      path: "/metrics",
      summary: "Figures for Prometheus",
      answers: {
        200: { description: "Prometheus text.", content: { "text/plain": { schema: z.string() } } },
      },
      handler: async () =>
        new Response(await metrics.text(), {
          headers: { "content-type": "text/plain; version=0.0.4; charset=utf-8" },
        }),
    },
    {
      method: "GET",
      path: "/openapi.json",
      summary: "This document",
      answers: { 200: jsonAnswer("OpenAPI 3.1.", z.looseObject({ openapi: z.string() })) },
      handler: async () => {
        document ??= JSON.stringify(await describe());
        return new Response(document, { headers: { "content-type": "application/json" } });
      },
    },
  ];
  return routes;
}

/** Probes give up soon, so a part that takes longer counts as failed. */
const ANSWER_MS = 800;

/** The checks that failed, with their reasons. */
async function failing(checks: Record<string, ReadinessCheck>): Promise<Record<string, string>> {
  const { promise: late, resolve } = Promise.withResolvers<string>();
  const timer = setTimeout(() => resolve(`no answer within ${ANSWER_MS} ms`), ANSWER_MS);
  const found = await Promise.all(
    Object.entries(checks).map(async ([part, check]) =>
      [part, await Promise.race([check(), late])] as const
    ),
  );
  clearTimeout(timer);
  return Object.fromEntries(
    found.filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}

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

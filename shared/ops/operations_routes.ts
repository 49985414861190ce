import { z } from "zod";
import type { Route } from "../http/router/router.ts";
import { type About, jsonAnswer } from "./api_description.ts";
import { loadApart } from "../lazy.ts";
import type { Operations, ReadinessCheck } from "./operations.ts";
import { describeVersion } from "./version.ts";

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
          ...(details && { details: missing }),
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

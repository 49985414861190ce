import type { Handler } from "../http/router.ts";
import { createApiDocument } from "./api_document.ts";
import type { Check, Operations } from "./operations.ts";
import { describeVersion } from "./version.ts";

/** What may be asked without a key: probes have none. */
export const OPEN_PATHS = ["/healthz", "/readyz"];

/** The routes that operators and their machines ask. `served` are the keys of all the others. */
export function createOperationsRoutes(
  { name, metrics, api, checks, details }: Operations,
  served: string[],
): Record<string, Handler> {
  const version = describeVersion(name);
  let document: string | undefined; // made when it is first asked for, and once: it takes time

  const routes: Record<string, Handler> = {
    "GET /healthz": () => Response.json({ status: "ok" }),
    "GET /readyz": async (_request, { connection }) => {
      const stopping = () => connection.admission?.isStopping ? "stopping" : undefined;
      const reasons = await failing({ ...checks, service: stopping });
      const isReady = Object.keys(reasons).length === 0;
      return Response.json({
        status: isReady ? "ready" : "not ready",
        reasons,
        ...(details && { details: await failing(details) }),
      }, { status: isReady ? 200 : 503 });
    },
    "GET /version": () => Response.json(version),
    "GET /metrics": async () =>
      new Response(await metrics.text(), {
        headers: { "content-type": "text/plain; version=0.0.4; charset=utf-8" },
      }),
    "GET /openapi.json": () => {
      document ??= JSON.stringify(
        createApiDocument(api, { version, served: [...Object.keys(routes), ...served] }),
      );
      return new Response(document, { headers: { "content-type": "application/json" } });
    },
  };
  return routes;
}

/** The checks that found something, with what they found. */
async function failing(checks: Record<string, Check>): Promise<Record<string, string>> {
  const found = await Promise.all(
    Object.entries(checks).map(async ([part, check]) => [part, await check()] as const),
  );
  return Object.fromEntries(
    found.filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}

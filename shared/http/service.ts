import { callerKeys, type CommonConfig } from "../config.ts";
import type { Logger } from "../log.ts";
import { requireApiKey } from "./auth.ts";
import { isLoopback, requireLoopbackHost } from "./host.ts";
import { createOriginPolicy } from "./origin.ts";
import { type ErrorResponse, type Handler, router, type Service } from "./router.ts";

/** Routes behind everything that both services ask of a request before they read it. */
export function createService(
  routes: Record<string, Handler>,
  { config, log, errorResponse }: {
    config: CommonConfig;
    log: Logger;
    errorResponse?: ErrorResponse;
  },
): Service {
  const origins = createOriginPolicy(config.CORS_ORIGINS);
  const keys = callerKeys(config);
  return router(routes, {
    log,
    ...(errorResponse && { errorResponse }),
    preflight: origins.preflight,
    responseHeaders: origins.responseHeaders,
    guards: [
      ...(isLoopback(config.HOST) ? [requireLoopbackHost] : []),
      origins.guard,
      ...(keys.length > 0 ? [requireApiKey(keys)] : []),
    ],
  });
}

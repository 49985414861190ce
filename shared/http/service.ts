import { callerKeys, type CommonConfig } from "../config.ts";
import type { Logger } from "../log.ts";
import type { Operations } from "../ops/operations.ts";
import { createOperationsRoutes, OPEN_PATHS } from "../ops/operations_routes.ts";
import { requireAdmission } from "./admission.ts";
import { identifyCaller, requireCaller } from "./auth.ts";
import { isLoopback, requireLoopbackHost } from "./host.ts";
import { createOriginPolicy } from "./origin.ts";
import { createRateLimit } from "./rate_limit.ts";
import { type ErrorResponse, type Guard, type Handler, router, type Service } from "./router.ts";

export interface ServiceDeps {
  config: CommonConfig;
  log: Logger;
  /** How the service is watched; without it there is nothing to watch it by. */
  operations?: Operations;
  /** How an error is answered; a problem document unless given. */
  errorResponse?: ErrorResponse;
}

/** Routes behind everything that both services ask of a request before they read it. */
export function createService(routes: Record<string, Handler>, deps: ServiceDeps): Service {
  const { config, log, operations, errorResponse } = deps;
  const origins = createOriginPolicy(config.CORS_ORIGINS);
  const served = operations
    ? { ...createOperationsRoutes(operations, Object.keys(routes)), ...routes }
    : routes;
  return router(served, {
    log,
    ...(errorResponse && { errorResponse }),
    preflight: origins.preflight,
    responseHeaders: origins.responseHeaders,
    guards: [
      requireAdmission(OPEN_PATHS),
      ...(isLoopback(config.HOST) ? [requireLoopbackHost] : []),
      origins.guard,
      ...callerGuards(config),
    ],
    ...(operations && { onAnswer: (answered) => operations.metrics.answered(answered) }),
  });
}

/** The limit counts before strangers are refused, so that guessing at keys is limited too. */
function callerGuards(config: CommonConfig): Guard[] {
  const { RATE_LIMIT: rate, TRUSTED_PROXIES: trustedProxies } = config;
  const keys = callerKeys(config);
  return [
    ...(keys.length > 0 ? [identifyCaller(keys)] : []),
    ...(rate ? [createRateLimit({ rate, trustedProxies, open: OPEN_PATHS })] : []),
    ...(keys.length > 0 ? [requireCaller(OPEN_PATHS)] : []),
  ];
}

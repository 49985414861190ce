import { callerKeys, type CommonConfig, serviceUrls } from "../service/config.ts";
import { lazy } from "../service/waiting.ts";
import type { Logger } from "../service/log.ts";
import type { About } from "../service/ops/api_description.ts";
import { createOperationsRoutes, type Operations } from "../service/ops/operations_routes.ts";
import {
  createOriginPolicy,
  identifyCaller,
  isLoopback,
  requireCaller,
  requireLoopbackHost,
} from "./guards.ts";
import { addPage, createDocumentRoutes, type Documents, type Page } from "./page_routes.ts";
import type { RateLimiter } from "./rate_limit.ts";
import { type ErrorResponse, type Guard, type Route, router, type Service } from "./router.ts";
import { requireAdmission } from "./connection.ts";

interface ServiceDeps {
  about: About;
  config: CommonConfig;
  log: Logger;
  /** How the service is monitored; without it there are no routes for that. */
  operations?: Operations;
  /** Counts requests for `RATE_LIMIT`, if several processes share the limit. */
  limiter?: RateLimiter | undefined;
  /** What browsers get; without it there are no pages. */
  page?: Page;
  /** What `/llms.txt` lists. */
  documents?: Documents;
  /** How an error is answered; as a problem document by default. */
  errorResponse?: ErrorResponse;
}

/** The routes of a service, behind the checks that every request passes. */
export function createService(routes: readonly Route[], deps: ServiceDeps): Service {
  const { about, config, log, operations, page, errorResponse } = deps;
  const origins = createOriginPolicy(config.CORS_ORIGINS, {
    trustedProxies: config.TRUSTED_PROXIES,
  });
  const described = operations
    ? [...createOperationsRoutes(about, { operations, others: routes }), ...routes]
    : routes;
  const all = [...described, ...createDocumentRoutes(about, deps.documents ?? {})];
  return router(page ? addPage(all, { ...page, services: serviceUrls(config) }) : all, {
    log,
    errorResponse,
    preflight: origins.preflight,
    responseHeaders: origins.responseHeaders,
    guards: [
      requireAdmission,
      ...(isLoopback(config.HOST) ? [requireLoopbackHost] : []),
      origins.guard,
      ...callerGuards(config, deps.limiter),
    ],
    onAnswer: operations?.metrics.answered,
  });
}

/** The rate limit counts before callers without a key are refused, so that it also limits guessing. */
function callerGuards(config: CommonConfig, limiter: RateLimiter | undefined): Guard[] {
  const { RATE_LIMIT: rate, TRUSTED_PROXIES: trustedProxies } = config;
  const keys = callerKeys(config);
  const limitRate = rate && lazy(async () => {
    const { createRateLimit } = await import("./rate_limit.ts");
    return createRateLimit({ rate, trustedProxies, limiter });
  });
  return [
    ...(keys.length > 0 ? [identifyCaller(keys)] : []),
    ...(limitRate ? [limitRate] : []),
    ...(keys.length > 0 ? [requireCaller] : []),
  ];
}

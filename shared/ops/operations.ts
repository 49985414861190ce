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

import type { ApiDescription } from "./api_description.ts";
import type { Metrics } from "./metrics.ts";

/** Says what keeps a part of the service from working; `undefined` where nothing does. */
export type Check = () => string | undefined | Promise<string | undefined>;

/** How a service is watched by those who operate it. */
export interface Operations {
  name: string;
  metrics: Metrics;
  api: ApiDescription;
  /** By the part that each one looks at: `providers`, `store`. */
  checks: Record<string, Check>;
  /** The same for parts that the service can go on without: told, but no reason to be unready. */
  details?: Record<string, Check>;
}

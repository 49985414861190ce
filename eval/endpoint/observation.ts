/** Metrics and traces of the service. A command has neither, and does not load them. */
export { createMetrics } from "../../shared/ops/metrics.ts";
export { createTracedFetch } from "../../shared/ops/traced_fetch.ts";
export { observeCall } from "./observed_call.ts";
export { observeTarget } from "./observed_target.ts";

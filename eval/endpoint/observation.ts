/** Metrics and traces of the service. A command has neither, and does not load them. */
export { createMetrics } from "../../shared/ops/metrics.ts";
export { callersTraceparent } from "../../shared/ops/tracing.ts";
export { observeCall } from "./observed_call.ts";
export { observeTarget } from "./observed_target.ts";

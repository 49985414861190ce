import type { ProviderDouble } from "./provider_double.ts";

/** The environment of a service that exports traces and its log to `collector`. */
export const exportTo = (collector: ProviderDouble) => ({
  OTEL_DENO: "true",
  OTEL_EXPORTER_OTLP_ENDPOINT: collector.origin,
  OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
  OTEL_BSP_SCHEDULE_DELAY: "50",
  // Otherwise Deno (2.7.7) may not end while an export is in progress.
  OTEL_EXPORTER_OTLP_TIMEOUT: "2000",
});

/** With its metrics. Deno (2.7.7) hangs in its exit if that meets an export: end it by SIGKILL. */
export const exportMetricsTo = (collector: ProviderDouble) => ({
  ...exportTo(collector),
  OTEL_METRIC_EXPORT_INTERVAL: "100",
});

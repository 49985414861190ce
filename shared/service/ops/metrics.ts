import type * as prometheus from "prom-client";
// Imported file by file: the whole package takes 0.1 s to load.
import counterClass from "prom-client/lib/counter.js";
import gaugeClass from "prom-client/lib/gauge.js";
import histogramClass from "prom-client/lib/histogram.js";
import registryClass from "prom-client/lib/registry.js";
import type { Answered } from "../../http/router.ts";

const Counter: typeof prometheus.Counter = counterClass;
const Gauge: typeof prometheus.Gauge = gaugeClass;
const Histogram: typeof prometheus.Histogram = histogramClass;
const Registry: typeof prometheus.Registry = registryClass;

/** One call to a model; tokens are 0 if the provider did not report them. */
interface ModelCall {
  /** `hub`, `studio`, `demo`, `endpoint` or `judge`: a fixed set, never a caller's text. */
  provider: string;
  /** `ok`, `left`, or the code of the error. */
  outcome: string;
  seconds: number;
  inputTokens: number;
  outputTokens: number;
}

/** What a service counts. Every label has a bounded set of values. */
export interface Metrics {
  answered(answered: Answered): void;
  modelCall(call: ModelCall): void;
  /** `left`: the caller has left before the tool answered. */
  toolCall(call: { tool: string; outcome: "ok" | "error" | "left"; seconds: number }): void;
  /** Counts a turn as running until the returned function is called. */
  startTurn(): () => void;
  eventLoopLag(seconds: number): void;
  /** Prometheus text. */
  text(): Promise<string>;
}

const REQUEST_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];
const LAG_BUCKETS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1];
const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

/** Figures that are counted elsewhere, and read together with the metrics. */
interface MetricSources {
  /** How many runs are running. */
  runs: () => number;
  /** How often each worker was started again, by its name. */
  workerRestarts?: () => ReadonlyMap<string, number>;
  /** The conversations that several processes share. */
  jobs?: () => Promise<JobFigures>;
}

/** Conversations on a queue: those of all processes, and those that this one has retried. */
export interface JobFigures {
  waiting?: number;
  running?: number;
  retried: number;
}

export function createMetrics({ runs, workerRestarts, jobs }: MetricSources): Metrics {
  const registers = [new Registry()];
  const [registry] = registers as [prometheus.Registry];
  const counter = (name: string, help: string, labelNames: string[]) =>
    new Counter({ name, help, labelNames, registers });
  const histogram = (name: string, help: string, labelNames: string[], buckets: number[]) =>
    new Histogram({ name, help, labelNames, buckets, registers });
  const gauge = (name: string, help: string, read?: () => number) =>
    new Gauge({
      name,
      help,
      registers,
      ...(read && {
        collect() {
          this.set(read());
        },
      }),
    });

  const requests = counter("assay_requests_total", "Requests answered.", [
    "method",
    "route",
    "status",
  ]);
  const latency = histogram(
    "assay_request_seconds",
    "Time to the answer's head.",
    ["route"],
    REQUEST_BUCKETS,
  );
  const calls = counter("assay_model_calls_total", "Model calls.", ["provider", "outcome"]);
  const callTime = histogram(
    "assay_model_call_seconds",
    "Model calls, retries included.",
    ["provider"],
    REQUEST_BUCKETS,
  );
  const tokens = counter("assay_tokens_total", "Tokens.", ["provider", "direction"]);
  const tools = counter("assay_tool_calls_total", "Tool calls.", ["tool", "outcome"]);
  const toolTime = histogram("assay_tool_call_seconds", "Tool calls.", ["tool"], REQUEST_BUCKETS);
  const lag = histogram("assay_event_loop_lag_seconds", "Event-loop lag.", [], LAG_BUCKETS);
  if (workerRestarts) {
    new Counter({
      name: "assay_worker_restarts_total",
      help: "Workers that were started again after they had died.",
      labelNames: ["worker"],
      registers,
      collect() {
        this.reset();
        for (const [worker, restarts] of workerRestarts()) this.inc({ worker }, restarts);
      },
    });
  }
  if (jobs) addJobMetrics(jobs, registers);
  let turns = 0;
  gauge("assay_runs_under_way", "Runs under way.", runs);
  gauge("assay_turns_under_way", "Turns that wait for a model.", () => turns);
  gauge("process_resident_memory_bytes", "Resident memory.", () => Deno.memoryUsage().rss);

  return {
    answered({ method, route, status, seconds }) {
      const label = METHODS.includes(method) ? method : "other";
      requests.inc({ method: label, route, status });
      latency.observe({ route }, seconds);
    },
    modelCall({ provider, outcome, seconds, inputTokens, outputTokens }) {
      calls.inc({ provider, outcome });
      callTime.observe({ provider }, seconds);
      tokens.inc({ provider, direction: "input" }, inputTokens);
      tokens.inc({ provider, direction: "output" }, outputTokens);
    },
    toolCall({ tool, outcome, seconds }) {
      tools.inc({ tool, outcome });
      toolTime.observe({ tool }, seconds);
    },
    startTurn() {
      turns++;
      return () => void turns--;
    },
    eventLoopLag: (seconds) => lag.observe(seconds),
    text: () => registry.metrics(),
  };
}

/** The gauges are the same in all processes; the counter is that of this one. */
function addJobMetrics(
  jobs: NonNullable<MetricSources["jobs"]>,
  registers: prometheus.Registry[],
): void {
  let reading: Promise<JobFigures> | undefined;
  const read = () => reading ??= jobs().finally(() => reading = undefined); // one reading for all metrics

  const gauge = (name: string, help: string, figure: "waiting" | "running") =>
    new Gauge({
      name,
      help,
      registers,
      async collect() {
        const value = (await read())[figure];
        if (value === undefined) this.remove(); // no value is better than an old one
        else this.set(value);
      },
    });
  new Counter({
    name: "assay_jobs_retried_total",
    help: "Conversations taken again.",
    registers,
    async collect() {
      const { retried } = await read();
      this.reset();
      this.inc(retried);
    },
  });
  gauge("assay_jobs_waiting", "Conversations that wait for a process.", "waiting");
  gauge("assay_jobs_running", "Conversations that a process has taken.", "running");
}

const SAMPLE_MS = 500;

/** Measures how late a timer fires. Runs until the process ends, and does not keep it alive. */
export function startLagSampler(metrics: Metrics): void {
  let due = performance.now() + SAMPLE_MS;
  const timer = setInterval(() => {
    const now = performance.now();
    metrics.eventLoopLag(Math.max(0, now - due) / 1000);
    due = now + SAMPLE_MS;
  }, SAMPLE_MS);
  Deno.unrefTimer(timer);
}

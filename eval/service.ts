import { createWorkerBoard } from "../shared/service/worker_call.ts";
import { callerKeys, serviceUrls } from "../shared/service/config.ts";
import type { Logger } from "../shared/service/log.ts";
import type { ServiceDefinition, StartedService } from "../shared/service/ops/start.ts";
import { EvalConfig, requireSafeEvalExposure } from "./config.ts";
import { type Retention, startRetention } from "./run/retention.ts";
import type { WorkerStarts } from "./score/wiring.ts";
import { giveUpWriting } from "./store/sqlite_connection.ts";

/** The service. `starts` replaces how its workers are started. */
export function defineEval(starts?: WorkerStarts): ServiceDefinition<typeof EvalConfig> {
  return {
    name: "assay-eval",
    schema: EvalConfig,
    portVariable: "EVAL_PORT",
    check(config) {
      requireSafeEvalExposure(config);
      return [];
    },
    // Calls to the endpoint, to a judge or an encoder, and to the database.
    create: (config, log) => create(config, { log, starts }),
  };
}

async function create(
  config: EvalConfig,
  { log, starts }: { log: Logger; starts: WorkerStarts | undefined },
): Promise<StartedService> {
  const { openData } = await import("./run/open_data.ts");
  const { createEvalDeps } = await import("./wiring.ts");
  const { createEvalHandler } = await import("./handler.ts");
  await import("./score/assessor.ts"); // now: the first run may find no file handle left
  const observation = await import("./ask/observation.ts");
  const workers = createWorkerBoard(log);
  const data = await openData(config, { log });
  const { store } = data;
  await giveUpWriting();
  const deps = createEvalDeps(config, { log, ...data, workers, starts, observation });
  await deps.runs.queueUnfinished();
  let retention: Retention | undefined;
  return {
    service: createEvalHandler(deps),
    ...(deps.operations && { metrics: deps.operations.metrics }),
    hints: (url) => [`open ${url} in a browser, or try: ${curl(url, config)}`],
    // Only after the port is open: a second start beside a running service must not call endpoints.
    async begin(url) {
      await store.announce?.(url);
      if (config.EVAL_RESUME === "off") await deps.runs.interruptUnfinished();
      else await deps.runs.resumeUnfinished();
      retention = await startRetention({
        store,
        log,
        keepDays: config.EVAL_KEEP_DAYS,
      });
      for (const warning of await deps.findShutdowns([])) log.warn(warning);
    },
    async stop() {
      retention?.stop();
      await deps.runs.stop();
    },
    abandon: () => deps.runs.abandon(),
    close: () => store.close(),
  };
}

/** A command that evaluates the demo agent, which `deno task dev` starts too. */
function curl(url: string, config: EvalConfig): string {
  const key = callerKeys(config).length > 0 ? " -H 'x-api-key: <one of API_KEYS>'" : "";
  const body = {
    test_batch: {
      id: "first-try",
      interactions: [{
        id: "1",
        user_message: "Hello!",
        reference_reply: "Hello, how can I help?",
      }],
    },
    endpoint: serviceUrls(config).agent,
    model_id: "demo/assistant",
  };
  return `curl -s ${url}/evaluate -H 'content-type: application/json'${key} -d '${
    JSON.stringify(body)
  }'`;
}

import { callerKeys } from "../shared/config.ts";
import { startService } from "../shared/start.ts";
import { EvalConfig, requireSafeEvalExposure } from "./config.ts";
import { createEvalHandler } from "./handler.ts";
import { createEvalDeps } from "./wiring.ts";

function main(): void {
  startService({
    name: "assay-eval",
    schema: EvalConfig,
    portVariable: "EVAL_PORT",
    create(config, log) {
      requireSafeEvalExposure(config);
      return {
        service: createEvalHandler(createEvalDeps(config, log)),
        hints: (url) => [`try: ${curl(url, config)}`],
      };
    },
  });
}

/** Evaluates the demo agent, which `deno task dev` runs beside this service. */
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
    endpoint: "http://127.0.0.1:8000",
    model_id: "demo/assistant",
  };
  return `curl -s ${url}/evaluate -H 'content-type: application/json'${key} -d '${
    JSON.stringify(body)
  }'`;
}

if (import.meta.main) main();

import { assertEquals, assertStringIncludes } from "@std/assert";
import { createCliLogger } from "../../../eval/cli/deno_context.ts";
import { EvalConfig } from "../../../eval/config.ts";
import { parseConfig } from "../../../shared/config.ts";

Deno.test("the command line's log has no secret of the configuration in it", () => {
  const config = parseConfig(EvalConfig, {
    EVAL_API_KEY: "planted-eval-key",
    EVAL_CREDENTIALS: '{"https://model.example":"planted-own-key"}',
    LOG_LEVEL: "debug",
  });
  const lines: string[] = [];
  const log = createCliLogger(config, (line) => lines.push(line));
  const error = new Error("they said planted-eval-key, then planted-own-key");
  log.error("run failed", { endpoint: "https://model.example/v1?token=t0ken", error });
  assertEquals(lines.join("").match(/planted|t0ken/g), null);
  assertStringIncludes(lines.join(""), "[secret]");
});

import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { createCliLogger } from "../../../eval/cli/process/deno_context.ts";
import { EvalConfig } from "../../../eval/config.ts";
import { parseConfig } from "../../../shared/config/config.ts";

function createStream(isTerminal: boolean) {
  const lines: string[] = [];
  const write = (text: string) => void lines.push(text);
  return { lines, stream: { write, isTerminal, columns: 80 } };
}

Deno.test("the command line's log has no secret of the configuration in it", () => {
  const config = parseConfig(EvalConfig, {
    EVAL_API_KEY: "planted-eval-key",
    EVAL_CREDENTIALS: '{"https://model.example":"planted-own-key"}',
    LOG_LEVEL: "debug",
  });
  const { lines, stream } = createStream(false);
  const log = createCliLogger(config, stream);
  const error = new Error("they said planted-eval-key, then planted-own-key");
  log.error("run failed", { endpoint: "https://model.example/v1?token=t0ken", error });
  assertEquals(lines.join("").match(/planted|t0ken/g), null);
  assertStringIncludes(lines.join(""), "[secret]");
});

Deno.test("on a terminal a line of the log takes the place of the bar; elsewhere it is plain", () => {
  const read = (isTerminal: boolean) => {
    const { lines, stream } = createStream(isTerminal);
    createCliLogger(parseConfig(EvalConfig, {}), stream).warn("the judge cannot be asked");
    return lines.join("");
  };
  assertEquals(read(true), `\r\x1b[K${read(false)}`);
  assertMatch(read(false), /^\S.*the judge cannot be asked\n$/);
});

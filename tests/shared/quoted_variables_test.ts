import { assertEquals, assertStringIncludes } from "@std/assert";
import { explainQuotedVariables } from "../../shared/config/variable_hints.ts";
import { runServiceCommand } from "../fakes/service_process.ts";

Deno.test("a variable whose whole value is in quotes is named, without its value", () => {
  const explained = explainQuotedVariables({
    EVAL_DATA: '"./data/eval.db"',
    STUDIO_MODELS: '\'{"a": "b"}\' ',
    AGENT_SYSTEM_PROMPT: '"Yes" means "oui"',
    PRICES: '{"a": "b"}',
    HUB_API_KEY: "it's",
    HOST: undefined,
  });
  assertEquals(explained, [
    "EVAL_DATA has quotes around its value, which are a part of it; remove them",
    "STUDIO_MODELS has quotes around its value, which are a part of it; remove them",
  ]);
});

Deno.test("the check warns of a path in quotes, which would be another folder", async () => {
  const environment = { EVAL_DATA: '"./data/eval.db"' };
  const { code, output } = await runServiceCommand("eval", ["--check"], environment);
  assertEquals(code, 0);
  assertStringIncludes(output, "warning: EVAL_DATA has quotes around its value");
});

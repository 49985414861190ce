import { assertEquals, assertStringIncludes } from "@std/assert";
import { AgentConfig } from "../../agent/config.ts";
import { EvalConfig } from "../../eval/config.ts";
import { parseConfig } from "../../shared/config/config.ts";
import { explainIdleVariables } from "../../shared/config/variable_hints.ts";
import { startCli } from "../fakes/cli_process.ts";
import { completion, startProviderDouble } from "../fakes/provider_double.ts";
import { runServiceCommand, startServiceProcess } from "../fakes/service_process.ts";
import { withFolder } from "../fakes/with_folder.ts";

type Schema = typeof AgentConfig | typeof EvalConfig;

const explain = (schema: Schema, environment: Record<string, string>) =>
  explainIdleVariables(schema, parseConfig(schema, environment));

const NO_JUDGE = "JUDGE_MODEL has no effect: JUDGE_BASE_URL is not set";

Deno.test("a key or a model without its address is named", () => {
  assertEquals(explain(EvalConfig, { JUDGE_MODEL: "m", JUDGE_API_KEY: "k" }), [
    "JUDGE_API_KEY has no effect: JUDGE_BASE_URL is not set",
    NO_JUDGE,
  ]);
  assertEquals(explain(AgentConfig, { HUB_API_KEY: "k", STUDIO_BASE_URL: "http://studio" }), [
    "HUB_API_KEY has no effect: HUB_BASE_URL is not set",
  ]);
});

Deno.test("a configuration that is complete has nothing to explain", () => {
  const judge = { JUDGE_MODEL: "m", JUDGE_API_KEY: "k", JUDGE_BASE_URL: "http://judge" };
  assertEquals(explain(EvalConfig, judge), []);
  assertEquals(explain(EvalConfig, { EVAL_API_KEY: "k" }), []);
  const search = { AGENT_TOOLS: "web_search", TAVILY_API_KEY: "k" };
  assertEquals(explain(AgentConfig, search), []);
});

Deno.test("the check and the start warn of a judge without an address", async () => {
  const environment = { JUDGE_MODEL: "m" };
  const { code, output } = await runServiceCommand("eval", ["--check"], environment);
  assertEquals(code, 0);
  assertStringIncludes(output, `warning: ${NO_JUDGE}`);
  await using service = await startServiceProcess("eval", { environment });
  assertStringIncludes(service.lines.join("\n"), NO_JUDGE);
});

Deno.test("the check of the agent warns of its own settings, too", async () => {
  const { output } = await runServiceCommand("agent", ["--check"], { TAVILY_API_KEY: "k" });
  const warning = "TAVILY_API_KEY has no effect: AGENT_TOOLS does not contain web_search";
  assertStringIncludes(output, `warning: ${warning}`);
});

Deno.test("a run of the command line warns of a judge without an address", () =>
  withFolder(async (cwd) => {
    await using hub = await startProviderDouble(completion({ content: "Hello" }));
    const scenario = { id: "s", interactions: [{ id: "1", user_message: "Hi" }] };
    await Deno.writeTextFile(`${cwd}/batch.json`, JSON.stringify([scenario]));
    const { outcome } = startCli(
      ["run", "batch.json", "--endpoint", hub.baseUrl, "--model", "a/b"],
      { cwd, environment: { JUDGE_MODEL: "m", EVAL_DATA: ":memory:" } },
    );
    assertStringIncludes((await outcome).err, NO_JUDGE);
  }));

import { assertEquals, assertStringIncludes } from "@std/assert";
import { AgentConfig } from "../../agent/config.ts";
import { checkMcp, createAgentDeps } from "../../agent/wiring.ts";
import { parseConfig } from "../../shared/config/config.ts";
import { silentLogger } from "../../shared/log.ts";
import { createFixedTools, type ToolServerState } from "../../agent/tools/tool.ts";

function check(...states: ToolServerState["state"][]) {
  const servers = states.map((state, index): ToolServerState => ({
    name: `server-${index}`,
    transport: "http",
    state,
    tools: 0,
    ...(state === "down" && { error: "it refused the connection" }),
  }));
  return checkMcp({ ...createFixedTools([]), describe: () => ({ tools: [], servers }) })();
}

Deno.test("readiness names the MCP servers that are not ready, without their errors", () => {
  assertEquals(check("ready", "down", "connecting"), "server-1 is down, server-2 is connecting");
});

Deno.test("readiness says nothing if all MCP servers are ready, or if there are none", () => {
  assertEquals([check("ready"), check()], [undefined, undefined]);
});

Deno.test("the restarts of the worker that reads pages are among the agent's figures", async () => {
  const config = parseConfig(AgentConfig, { AGENT_TOOLS: "fetch_url" });
  const { metrics, tools } = await createAgentDeps(config, silentLogger);
  assertStringIncludes(await metrics.text(), 'assay_worker_restarts_total{worker="page"} 0');
  await tools[Symbol.asyncDispose]();
});

Deno.test("with a list of fine-tuned models alone the agent is not ready, and says what is missing", async () => {
  const readiness = async (environment: Record<string, string>) => {
    const deps = await createAgentDeps(parseConfig(AgentConfig, environment), silentLogger);
    return await deps.operations!.checks.providers!();
  };
  const STUDIO_MODELS = '{"support":"3fa85f64-5717-4562-b3fc-2c963f66afa6"}';
  assertStringIncludes(await readiness({ STUDIO_MODELS }) ?? "", "set STUDIO_BASE_URL");
  assertEquals(
    await readiness({ STUDIO_MODELS, STUDIO_BASE_URL: "http://127.0.0.1:9" }),
    undefined,
  );
  assertEquals(await readiness({}), undefined);
});

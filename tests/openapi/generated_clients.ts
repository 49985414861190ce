import "npm:typescript@5.9.3"; // the peer of both generators
import { createClient } from "npm:@hey-api/openapi-ts@0.99.0";
import { assertEquals } from "@std/assert";
import openapiTS, { astToString } from "npm:openapi-typescript@7.13.0";
import { completion, startProviderDouble } from "../fakes/provider_double.ts";
import { startServiceProcess } from "../fakes/service_process.ts";

/** Two common generators read `/openapi.json`; a program on their output is checked and run. */

/** Uses the client of one generator and the types of the other, by the names that people read. */
const PROGRAM = `
import type { components } from "./eval.ts";
import type { components as agent } from "./agent.ts";
import { client } from "./eval/client.gen.ts";
import { getRunsId, getRunsIdExport, postEvaluate } from "./eval/sdk.gen.ts";
import type { EvaluateResponse, Interaction, InteractionResult } from "./eval/types.gen.ts";
import { client as agentClient } from "./agent/client.gen.ts";
import { postRoot, postV1ChatCompletions } from "./agent/sdk.gen.ts";

const [eval_url, agent_url, endpoint] = Deno.args as [string, string, string];
client.setConfig({ baseUrl: eval_url, throwOnError: true });
agentClient.setConfig({ baseUrl: agent_url });

const interactions: Interaction[] = [{ id: "1", user_message: "Hello!" }];
const { data } = await postEvaluate({
  body: { test_batch: { id: "greeting", interactions }, endpoint, model_id: "acme/small" },
  throwOnError: true,
});
const evaluated = data as EvaluateResponse;
const turn: InteractionResult = evaluated.results.scenarios[0]!.attempts[0]!.interactions[0]!;
const same: components["schemas"]["InteractionResult"] = turn;
const { data: run } = await getRunsId({ path: { id: evaluated.run_id }, throwOnError: true });
const result: EvaluateResponse | undefined = run.result;
const { data: file } = await getRunsIdExport({
  path: { id: evaluated.run_id },
  query: { format: "json" },
  throwOnError: true,
});
const exported = file as EvaluateResponse;

const headers = { "x-model-id": "acme/small" };
const { data: reply } = await postRoot({ body: { prompt: "Hello!" }, headers, throwOnError: true });
const message: agent["schemas"]["AgentReply"] = reply as agent["schemas"]["AgentReply"];
const { error } = await postV1ChatCompletions({
  body: { model: "neither", messages: [{ role: "user", content: "Hello!" }] },
});
const refused: agent["schemas"]["OpenAIError"] | undefined = error;

console.log(JSON.stringify({
  reply: same.agent_reply,
  stored: result?.results.scenarios[0]?.scenario_id,
  exported: exported.results.scenarios[0]?.attempts.length,
  message: message.content,
  refused: refused?.error.code,
}));
`;

async function generate(folder: string, service: string, url: string): Promise<void> {
  const document = await (await fetch(`${url}/openapi.json`)).json();
  await Deno.writeTextFile(`${folder}/${service}.ts`, astToString(await openapiTS(document)));
  await createClient({
    input: document,
    output: { path: `${folder}/${service}`, module: { extension: ".ts" } },
    logs: { level: "silent" },
    plugins: ["@hey-api/typescript", "@hey-api/sdk", "@hey-api/client-fetch"],
  });
}

async function deno(args: string[], cwd: string): Promise<string> {
  const command = new Deno.Command(Deno.execPath(), { args, cwd, env: { NO_COLOR: "1" } });
  const { success, stdout, stderr } = await command.output();
  if (!success) throw new Error(new TextDecoder().decode(stderr));
  return new TextDecoder().decode(stdout);
}

Deno.test("clients that openapi-typescript and hey-api generate are typed by name, and work", async () => {
  await using endpoint = await startProviderDouble(completion({ content: "Hello, may I help?" }));
  await using agent = await startServiceProcess("agent", {
    environment: { HUB_BASE_URL: endpoint.baseUrl, HUB_BARE_MODELS: "off" },
  });
  await using service = await startServiceProcess("eval");
  const folder = await Deno.makeTempDir();
  try {
    await generate(folder, "eval", service.url);
    await generate(folder, "agent", agent.url);
    await Deno.writeTextFile(`${folder}/program.ts`, PROGRAM);
    await Deno.writeTextFile(`${folder}/deno.json`, "{}");
    const urls = [service.url, agent.url, endpoint.baseUrl];
    const printed = await deno(["run", "--check", "-A", "program.ts", ...urls], folder);
    assertEquals(JSON.parse(printed), {
      reply: "Hello, may I help?",
      stored: "greeting",
      exported: 1,
      message: "Hello, may I help?",
      refused: "invalid_model_id",
    });
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

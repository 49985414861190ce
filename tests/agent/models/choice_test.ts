import { assertEquals, assertStringIncludes } from "@std/assert";
import { explainRoute, type ModelRules, resolveModel } from "../../../agent/models/choice.ts";
import { agentRequestOf, agentService } from "../../fakes/agent_service.ts";
import { createScriptedProvider } from "../../fakes/scripted_provider.ts";
import { json, startProviderDouble } from "../../fakes/provider_double.ts";
import { startServiceProcess } from "../../fakes/service_process.ts";
import { until } from "../../fakes/until.ts";

const UUID = "3fa85f64-5717-4562-b3fc-2c963f66afa6";
const STRICT: ModelRules = { HUB_BARE_MODELS: "off", MODEL_ALIASES: undefined };
const BARE: ModelRules = { ...STRICT, HUB_BARE_MODELS: "on" };
const ALIASES: ModelRules = {
  ...STRICT,
  MODEL_ALIASES: { fast: "acme/small", tuned: UUID, "openai/gpt-4o": "acme/large" },
};

const ROUTES: [ModelRules, id: string, target: string | null, model: string][] = [
  [STRICT, "gpt-4o", null, "gpt-4o"],
  [STRICT, "constructor", null, "constructor"],
  [BARE, "gpt-4o", "hub", "gpt-4o"],
  [BARE, " llama3.2:8b ", "hub", "llama3.2:8b"],
  [BARE, "/model", "hub", "/model"],
  [BARE, UUID, "studio", UUID],
  [BARE, "acme/small", "hub", "acme/small"],
  [BARE, " ", null, ""],
  [ALIASES, "fast", "hub", "acme/small"],
  [ALIASES, " tuned ", "studio", UUID],
  [ALIASES, "openai/gpt-4o", "hub", "acme/large"],
  [ALIASES, "constructor", null, "constructor"],
];
for (const [rules, id, target, model] of ROUTES) {
  const name = rules === STRICT ? "the rule alone" : rules === BARE ? "HUB_BARE_MODELS" : "aliases";
  Deno.test(`with ${name}, ${JSON.stringify(id)} leads to ${target} as ${model}`, () => {
    assertEquals<unknown>(resolveModel(id, rules), { target, model });
  });
}

Deno.test("a route is explained by what led to it", () => {
  assertStringIncludes(explainRoute("gpt-4o", STRICT).reason, "HUB_BARE_MODELS=on");
  assertStringIncludes(explainRoute("gpt-4o", BARE).reason, "HUB_BARE_MODELS is on");
  assertStringIncludes(explainRoute("fast", ALIASES).reason, "alias of acme/small");
});

function serve(environment: Record<string, string>) {
  const provider = createScriptedProvider({});
  const { service, asked } = agentService(provider, { environment });
  const post = (model: string, { plain = false } = {}) =>
    service(
      new Request("http://127.0.0.1:8000/v1/chat/completions", {
        method: "POST",
        headers: { "content-type": "application/json", ...(plain && { "x-agent-tools": "off" }) },
        body: JSON.stringify({ model, messages: [{ role: "user", content: "Hi" }] }),
      }),
    );
  return { service, provider, asked, post };
}
const BODY = { messages: [{ type: "human", content: "Hi" }] };

Deno.test("bare ids and aliases reach the provider on every route", async () => {
  const { service, provider, asked, post } = serve({
    HUB_BARE_MODELS: "on",
    MODEL_ALIASES: `{"fast": "acme/small", "tuned": "${UUID}"}`,
  });
  for (const id of ["llama3.2", "fast", "tuned"]) {
    await service(agentRequestOf(BODY, { headers: { "x-model-id": id } }));
    await post(id);
    await post(id, { plain: true });
    await post(`${id}:plain`);
  }
  const each = (model: string) => Array(4).fill(model);
  assertEquals(provider.requests.map(({ model }) => model), [
    ...each("llama3.2"),
    ...each("acme/small"),
    ...each(UUID),
  ]);
  assertEquals(asked, [...each("hub"), ...each("hub"), ...each("studio")]);
});

Deno.test("without them the specification's rule holds, and the 400 names the variables", async () => {
  const { service, provider, post } = serve({});
  const response = await service(agentRequestOf(BODY, { headers: { "x-model-id": "gpt-4o" } }));
  const { code, detail } = await response.json();
  assertEquals([response.status, code], [400, "invalid_model_id"]);
  for (const text of [detail, (await (await post("gpt-4o")).json()).error.message]) {
    assertStringIncludes(text, "neither a UUID nor <provider>/<model>");
    assertStringIncludes(text, "HUB_BARE_MODELS=on");
    assertStringIncludes(text, "MODEL_ALIASES");
  }
  assertEquals(provider.requests, []);
});

Deno.test("a fallback may be an alias", async () => {
  const { service, provider } = serve({
    HUB_FALLBACK: "fast",
    MODEL_ALIASES: `{"fast": "acme/small"}`,
  });
  await service(agentRequestOf(BODY, { headers: { "x-model-id": "fast" } }));
  assertEquals(provider.requests.map(({ model }) => model), ["acme/small"]);
});

Deno.test("models that the hub lists and the rule hides are named at the start and in the list", async () => {
  const data = [{ id: "acme/small" }, { id: "gpt-4o" }, { id: "llama3.2" }];
  await using hub = await startProviderDouble(json({ data }));
  await using agent = await startServiceProcess("agent", {
    environment: { HUB_BASE_URL: hub.baseUrl, HUB_BARE_MODELS: "off" },
  });
  await hub.received();
  const list = await (await fetch(`${agent.url}/v1/models`)).json();
  assertEquals(list.data.map(({ id }: { id: string }) => id), ["acme/small"]);
  assertEquals(list.diagnostics.hidden_models, ["gpt-4o", "llama3.2"]);
  assertStringIncludes(list.diagnostics.reason, "2 models of the hub cannot be asked");
  assertStringIncludes(list.diagnostics.reason, "HUB_BARE_MODELS=on");
  const told = () => agent.lines.find((line) => line.includes("cannot be asked"));
  await until(() => told());
  assertStringIncludes(told()!, "gpt-4o, llama3.2");
  assertEquals(hub.requests.length, 1);
});

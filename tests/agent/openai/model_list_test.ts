import { assertEquals, assertStringIncludes } from "@std/assert";
import { AgentConfig } from "../../../agent/config.ts";
import { createModels, type Models } from "../../../agent/models/models.ts";
import { listModels } from "../../../agent/openai/model_list.ts";
import { parseConfig } from "../../../shared/config/config.ts";
import { silentLogger } from "../../../shared/log.ts";
import { type ListedModel, ProviderError } from "../../../shared/providers/provider.ts";
import { agentService } from "../../fakes/agent_service.ts";
import { createScriptedProvider, never } from "../../fakes/scripted_provider.ts";

const UUID = "3fa85f64-5717-4562-b3fc-2c963f66afa6";
const LARGE: ListedModel = { id: "acme/large", name: "Large" };
const FAILURE = new ProviderError(502, "provider_error", "no", { kind: "unreachable" });

/** One fine-tuned model and one of the hub, unless a test has others. */
function modelsOf({ listStudio, hub = [LARGE] }: {
  listStudio?: Models["listStudio"];
  hub?: ListedModel[];
} = {}): Models {
  return {
    providerFor: () => createScriptedProvider({}),
    listStudio: listStudio ?? (() => Promise.resolve({ "support-v3": UUID })),
    listHub: () => Promise.resolve({ models: hub, hidden: [] }),
  };
}

/** Asks for `/v1/models`, and what is below it. */
function serve(models: Models) {
  const { service } = agentService(createScriptedProvider({}), { models });
  return (path = "") => service(new Request(`http://127.0.0.1:8000/v1/models${path}`));
}

Deno.test("the hub's models are listed even if the studio's list fails", async () => {
  const listStudio = () => Promise.reject(FAILURE);
  const some = await (await serve(modelsOf({ listStudio }))()).json();
  assertEquals(some.data.map(({ id }: { id: string }) => id), ["acme/large"]);
  const none = await serve(modelsOf({ listStudio, hub: [] }))();
  assertEquals([none.status, (await none.json()).error.code], [502, "provider_error"]);
});

Deno.test("the hub's models do not wait for a studio that does not answer", async () => {
  const { signal } = new AbortController();
  const models = modelsOf({ listStudio: () => never() });
  const { data } = await listModels(models, { signal, studioWaitMs: 1 });
  assertEquals(data.map(({ id }) => id), ["acme/large"]);
});

Deno.test("a hub that is down is named beside the models that can be asked", async () => {
  const config = parseConfig(AgentConfig, {
    HUB_BASE_URL: "http://127.0.0.1:9/v1",
    MODEL_RETRIES: "0",
    STUDIO_MODELS: JSON.stringify({ "support-v3": UUID }),
  });
  const list = await (await serve(createModels(config, silentLogger))()).json();
  assertEquals(list.data.map(({ id }: { id: string }) => id), [UUID]);
  assertStringIncludes(list.diagnostics.hub, "cannot");
});

Deno.test("a fine-tuned model is not called unknown if the studio's list fails", async () => {
  const get = serve(modelsOf({ listStudio: () => Promise.reject(FAILURE) }));
  const ask = async (path: string) => {
    const answer = await get(path);
    const { error } = await answer.json();
    return [answer.status, error?.code];
  };
  assertEquals(await ask(`/${UUID}`), [502, "provider_error"]);
  assertEquals(await ask("/acme/none"), [404, "model_not_found"]);
  assertEquals(await ask("/acme/large"), [200, undefined]);
});

Deno.test("GET /v1/models lists the fine-tuned models by UUID, then the hub's", async () => {
  assertEquals(await (await serve(modelsOf())()).json(), {
    object: "list",
    data: [
      { id: UUID, object: "model", created: 0, owned_by: "studio", name: "support-v3" },
      { id: "acme/large", object: "model", created: 0, owned_by: "acme", name: "Large" },
    ],
  });
});

Deno.test("a model whose id names no provider is owned by the hub, not by itself", async () => {
  const hub = ["llama3.2", "studio"].map((id) => ({ id, name: id }));
  const { data } = await (await serve(modelsOf({ hub }))()).json();
  const owners = data.map((model: Record<string, string>) => [model.id, model.owned_by]);
  assertEquals(owners, [[UUID, "studio"], ["llama3.2", "hub"], ["studio", "hub"]]);
});

Deno.test("GET /v1/models/{id} finds a model whether its slash is encoded or not", async () => {
  const get = serve(modelsOf());
  const large = { id: "acme/large", object: "model", created: 0, owned_by: "acme", name: "Large" };
  for (const path of ["/acme/large", "/acme%2Flarge"]) {
    assertEquals(await (await get(path)).json(), large);
  }
  for (const id of [UUID, UUID.toUpperCase()]) {
    assertEquals((await (await get(`/${id}`)).json()).id, UUID);
  }
  for (const path of ["/acme/small", "/ACME/LARGE", "/%"]) {
    const missing = await get(path);
    const { error } = await missing.json();
    assertEquals([missing.status, error.code, error.param], [404, "model_not_found", "model"]);
  }
});

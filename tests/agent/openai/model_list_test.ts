import { assertEquals } from "@std/assert";
import { listModels } from "../../../agent/openai/model_list.ts";
import { ProviderError } from "../../../shared/providers/provider.ts";
import { agentService } from "../../fakes/agent_service.ts";
import { createScriptedProvider, never } from "../../fakes/scripted_provider.ts";

const UUID = "3fa85f64-5717-4562-b3fc-2c963f66afa6";

Deno.test("the hub's models are listed even if the studio's list fails", async () => {
  const provider = createScriptedProvider({});
  const failure = new ProviderError(502, "provider_error", "no", { kind: "unreachable" });
  const listed = async (hub: { id: string; name: string }[]) => {
    const { service } = agentService(provider, {
      models: {
        providerFor: () => provider,
        listStudio: () => Promise.reject(failure),
        listHub: () => Promise.resolve({ models: hub, hidden: [] }),
      },
    });
    return await service(new Request("http://127.0.0.1:8000/v1/models"));
  };
  const some = await (await listed([{ id: "acme/large", name: "Large" }])).json();
  assertEquals(some.data.map(({ id }: { id: string }) => id), ["acme/large"]);
  const none = await listed([]);
  assertEquals([none.status, (await none.json()).error.code], [502, "provider_error"]);
});

Deno.test("the hub's models do not wait for a studio that does not answer", async () => {
  const provider = createScriptedProvider({});
  const models = {
    providerFor: () => provider,
    listStudio: () => never<Record<string, string>>(),
    listHub: () => Promise.resolve({ models: [{ id: "acme/large", name: "Large" }], hidden: [] }),
  };
  const { signal } = new AbortController();
  const { data } = await listModels(models, { signal, studioWaitMs: 1 });
  assertEquals(data.map(({ id }) => id), ["acme/large"]);
});

Deno.test("a fine-tuned model is not called unknown if the studio's list fails", async () => {
  const provider = createScriptedProvider({});
  const failure = new ProviderError(502, "provider_error", "no", { kind: "unreachable" });
  const { service } = agentService(provider, {
    models: {
      providerFor: () => provider,
      listStudio: () => Promise.reject(failure),
      listHub: () => Promise.resolve({ models: [{ id: "acme/large", name: "Large" }], hidden: [] }),
    },
  });
  const ask = async (path: string) => {
    const answer = await service(new Request(`http://127.0.0.1:8000/v1/models/${path}`));
    const { error } = await answer.json();
    return [answer.status, error?.code];
  };
  assertEquals(await ask(UUID), [502, "provider_error"]);
  assertEquals(await ask("acme/none"), [404, "model_not_found"]);
  assertEquals(await ask("acme/large"), [200, undefined]);
});

Deno.test("GET /v1/models lists the fine-tuned models by UUID, then the hub's", async () => {
  const provider = createScriptedProvider({});
  const { service } = agentService(provider, {
    models: {
      providerFor: () => provider,
      listStudio: () => Promise.resolve({ "support-v3": UUID }),
      listHub: () => Promise.resolve({ models: [{ id: "acme/large", name: "Large" }], hidden: [] }),
    },
  });
  const list = await (await service(new Request("http://127.0.0.1:8000/v1/models"))).json();
  assertEquals(list, {
    object: "list",
    data: [
      { id: UUID, object: "model", created: 0, owned_by: "studio", name: "support-v3" },
      { id: "acme/large", object: "model", created: 0, owned_by: "acme", name: "Large" },
    ],
  });
});

Deno.test("GET /v1/models/{id} finds a model whether its slash is encoded or not", async () => {
  const provider = createScriptedProvider({});
  const { service } = agentService(provider, {
    models: {
      providerFor: () => provider,
      listStudio: () => Promise.resolve({ "support-v3": UUID }),
      listHub: () => Promise.resolve({ models: [{ id: "acme/large", name: "Large" }], hidden: [] }),
    },
  });
  const ask = (path: string) => service(new Request(`http://127.0.0.1:8000/v1/models/${path}`));
  const large = { id: "acme/large", object: "model", created: 0, owned_by: "acme", name: "Large" };
  for (const path of ["acme/large", "acme%2Flarge"]) {
    assertEquals(await (await ask(path)).json(), large);
  }
  for (const path of [UUID, UUID.toUpperCase()]) {
    assertEquals((await (await ask(path)).json()).id, UUID);
  }
  for (const path of ["acme/small", "ACME/LARGE", "%"]) {
    const missing = await ask(path);
    const { error } = await missing.json();
    assertEquals([missing.status, error.code, error.param], [404, "model_not_found", "model"]);
  }
});

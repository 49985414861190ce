import { assertEquals } from "@std/assert";
import { agentRequestOf, agentService } from "../../fakes/agent_service.ts";
import { createScriptedProvider } from "../../fakes/scripted_provider.ts";

Deno.test("the field prompt is an abbreviation for one human message", async () => {
  const provider = createScriptedProvider({});
  const { service } = agentService(provider);
  assertEquals((await service(agentRequestOf({ prompt: "Hello?" }))).status, 200);
  assertEquals(provider.requests[0]?.messages.at(-1), { role: "user", content: "Hello?" });
  const blank = await service(agentRequestOf({ prompt: " " }));
  const { code, errors } = await blank.json();
  assertEquals([blank.status, code], [400, "invalid_request"]);
  assertEquals(errors, [{ path: "prompt", message: "must not be blank" }]);
  const wrong = await service(agentRequestOf({ prompt: 5 }));
  assertEquals((await wrong.json()).errors[0].path, "messages");
});

Deno.test("GET /route explains where a model id leads", async () => {
  const { service } = agentService(createScriptedProvider({}));
  const uuid = "3fa85f64-5717-4562-b3fc-2c963f66afa6";
  const cases: [string, string | null][] = [[uuid, "studio"], ["a/b", "hub"], ["gpt-4o", null]];
  for (const [model, target] of cases) {
    const url = `http://127.0.0.1:8000/route?model=${encodeURIComponent(model)}`;
    const route = await (await service(new Request(url))).json();
    assertEquals(Object.keys(route), ["target", "model", "reason"]);
    assertEquals([route.target, route.model], [target, model]);
  }
  const missing = await service(new Request("http://127.0.0.1:8000/route"));
  assertEquals([missing.status, (await missing.json()).code], [400, "missing_model_id"]);
});

Deno.test("GET /tools lists the selected tools", async () => {
  const { service } = agentService(createScriptedProvider({}), {
    environment: { AGENT_TOOLS: "calculator" },
  });
  const report = await (await service(new Request("http://127.0.0.1:8000/tools"))).json();
  assertEquals(report.tools.map(({ name, source }: Record<string, string>) => [name, source]), [
    ["calculator", "built-in"],
  ]);
  assertEquals(report.servers, []);
});

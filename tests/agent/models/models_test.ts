import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { AgentConfig } from "../../../agent/config.ts";
import { createModels } from "../../../agent/models/models.ts";
import { parseConfig } from "../../../shared/config/config.ts";
import { AppError } from "../../../shared/errors.ts";
import { silentLogger } from "../../../shared/log.ts";
import { DEMO_MODEL, DEMO_STUDIO } from "../../../agent/models/demo_names.ts";

const UUID = "3fa85f64-5717-4562-b3fc-2c963f66afa6";

function models(environment: Record<string, string>) {
  return createModels(parseConfig(AgentConfig, environment), silentLogger);
}

Deno.test("without configuration the demo serves both targets and lists its model", async () => {
  const { demoModel, providerFor, listStudio } = models({});
  assertEquals(demoModel, DEMO_MODEL);
  assertEquals(providerFor("hub"), providerFor("studio"));
  assertEquals(await listStudio(), { [DEMO_STUDIO.name]: DEMO_STUDIO.id });
});

Deno.test("if one provider is configured, the error for the other target names its variable", () => {
  const cases: [Record<string, string>, "hub" | "studio", string][] = [
    [{ HUB_BASE_URL: "http://hub.test/v1" }, "studio", "STUDIO_BASE_URL"],
    [{ STUDIO_BASE_URL: "http://studio.test/v1" }, "hub", "HUB_BASE_URL"],
    [{ STUDIO_MODELS: `{"a":"${UUID}"}` }, "hub", "HUB_BASE_URL"],
    [{ STUDIO_MODELS: `{"a":"${UUID}"}` }, "studio", "STUDIO_BASE_URL"],
  ];
  for (const [environment, target, variable] of cases) {
    const { demoModel, providerFor } = models(environment);
    assertEquals(demoModel, undefined);
    const error = assertThrows(() => providerFor(target), AppError);
    assertEquals([error.status, error.code], [503, "provider_not_configured"]);
    assertStringIncludes(error.message, variable);
  }
});

Deno.test("each configured target has its own provider", () => {
  const { providerFor } = models({
    HUB_BASE_URL: "http://hub.test/v1",
    STUDIO_BASE_URL: "http://studio.test/v1",
  });
  assertEquals([providerFor("hub").name, providerFor("studio").name], ["hub", "studio"]);
});

Deno.test("fine-tuned models come from the configuration; without it and a provider there are none", async () => {
  assertEquals(await models({ STUDIO_MODELS: `{"a":"${UUID}"}` }).listStudio(), { a: UUID });
  assertEquals(await models({ HUB_BASE_URL: "http://hub.test/v1" }).listStudio(), {});
});

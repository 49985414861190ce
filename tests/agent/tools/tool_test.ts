import { AgentConfig } from "../../../agent/config.ts";
import { parseConfig } from "../../../shared/config/config.ts";
import { assertEquals } from "@std/assert";
import { createTools } from "../../../agent/tools/mod.ts";
import { createToolbox } from "../../../agent/tools/tool.ts";

Deno.test("the model sees each tool's name, description and arguments", () => {
  const { definitions, names } = createToolbox(createTools(parseConfig(AgentConfig, {})));
  assertEquals(names, ["current_time", "calculator"]);
  assertEquals(definitions[0], {
    name: "current_time",
    description: "The current date, time and weekday in a time zone.",
    parameters: {
      type: "object",
      properties: {
        time_zone: {
          default: "UTC",
          description: "IANA time zone, for example Europe/Berlin; UTC when left out",
          type: "string",
        },
      },
    },
  });
  assertEquals(definitions[1]?.parameters.required, ["expression"]);
});

Deno.test("a tool is found by its own name only", () => {
  const toolbox = createToolbox(createTools(parseConfig(AgentConfig, {})));
  assertEquals(toolbox.find("calculator")?.name, "calculator");
  assertEquals(toolbox.find("toString"), undefined);
});

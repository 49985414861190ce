import { unsupportedField } from "../../shared/errors.ts";
import type { ToolDefinition } from "../../shared/providers/provider.ts";
import { asFields, asText, isFields } from "../../shared/fields.ts";
import type { CompletionRequest } from "../schemas/chat_completion.ts";
import type { AgentSettings } from "../run/model_request.ts";

/** The caller's functions, with all their fields. Throws 400 for tools of another kind. */
export function readTools({ tools }: CompletionRequest): ToolDefinition[] {
  return (tools ?? []).map((tool, index) => {
    const { type, function: called } = asFields(tool);
    if (type !== "function") {
      throw unsupportedField(
        `tools.${index}.type`,
        "only functions can stand beside the agent's tools; end the model id with :plain to ask " +
          "the model without the agent",
      );
    }
    const { name: given, description: text, parameters, ...more } = asFields(called);
    const name = asText(given);
    if (!name) throw unsupportedField(`tools.${index}.function.name`, "it is missing");
    const description = asText(text);
    return {
      ...more,
      name,
      ...(description?.trim() && { description }),
      parameters: isFields(parameters) ? parameters : { type: "object", properties: {} },
    };
  });
}

/** The fields about tools that go to the provider, as long as it gets tools. */
export function readToolFields(
  { tool_choice, parallel_tool_calls }: CompletionRequest,
): Pick<AgentSettings, "toolExtra"> {
  const toolExtra = {
    ...(tool_choice !== null && tool_choice !== undefined && { tool_choice }),
    ...(typeof parallel_tool_calls === "boolean" && { parallel_tool_calls }),
  };
  return Object.keys(toolExtra).length > 0 ? { toolExtra } : {};
}

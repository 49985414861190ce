import { z } from "zod";
import { address, commonVariables, integer, list, stringMap } from "../shared/config.ts";
import { routeModel } from "../shared/routing.ts";
import { TOOL_NAMES } from "./tools/names.ts";

const SYSTEM_PROMPT = "You are a helpful assistant. Answer plainly and briefly. " +
  "Use a tool where it makes the answer surer, and never invent what a tool returned.";

/** Every environment variable that the agent backend reads. */
export const AgentConfig = z.object({
  ...commonVariables,
  AGENT_PORT: integer(8000, { max: 65_535 }),
  HUB_BASE_URL: address(),
  HUB_API_KEY: z.string().optional(),
  STUDIO_BASE_URL: address(),
  STUDIO_API_KEY: z.string().optional(),
  STUDIO_MODELS: stringMap().superRefine((models, context) => {
    for (const [name, id] of Object.entries(models ?? {})) {
      if (routeModel(id).target === "studio") continue;
      context.addIssue({ code: "custom", message: `${JSON.stringify(name)} needs a UUID` });
    }
  }),
  MODEL_STREAM_TIMEOUT_MS: integer(600_000, { min: 1 }),
  AGENT_SYSTEM_PROMPT: z.string().default(SYSTEM_PROMPT),
  AGENT_TEMPERATURE: z.coerce.number().min(0).max(2).optional(),
  AGENT_MAX_TOKENS: z.coerce.number().int().min(1).optional(),
  AGENT_MAX_STEPS: integer(12, { min: 1, max: 1000 }),
  AGENT_MAX_RUNS: integer(1000, { min: 1 }),
  AGENT_MAX_HISTORY: integer(200, { min: 1 }),
  HUB_FALLBACK: list().superRefine((models, context) => {
    for (const model of models) {
      if (routeModel(model).target === "hub") continue;
      const message = `${JSON.stringify(model)} is not of the form <provider>/<model>`;
      context.addIssue({ code: "custom", message });
    }
  }),
  AGENT_TOOLS: list(["current_time", "calculator"]).pipe(z.array(z.enum(TOOL_NAMES))),
  TOOL_TIMEOUT_MS: integer(30_000, { min: 1 }),
  TAVILY_API_KEY: z.string().optional(),
  TAVILY_BASE_URL: address().default("https://api.tavily.com"),
  AGENT_MCP_CONFIG: z.string().optional(),
});
export type AgentConfig = z.infer<typeof AgentConfig>;

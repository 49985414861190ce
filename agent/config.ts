import { z } from "zod";
import {
  address,
  checkCredentials,
  commonVariables,
  headerKey,
  integer,
  list,
  milliseconds,
  stringMap,
  wholeNumber,
} from "../shared/service/config.ts";
import { isUsablePostgres } from "../shared/service/postgres/address.ts";
import {
  PROVIDER_NAMES,
  type ProviderName,
  routeModel,
  settingsOf,
} from "../shared/providers/provider.ts";
import { TOOL_NAMES } from "./core/tools/mod.ts";

const SYSTEM_PROMPT = "You are a helpful assistant. Answer plainly and briefly. " +
  "Use a tool where it makes the answer surer, and never invent what a tool returned.";

/** Every environment variable that the agent backend reads. */
export const AgentConfig = z.object({
  ...commonVariables,
  RATE_LIMIT_STORE: z.string().refine(isUsablePostgres, {
    error: "must be a PostgreSQL address such as postgres://user:password@host/database",
  }).optional(),
  ...providerVariables(),
  HUB_BARE_MODELS: z.enum(["on", "off"]).default("off"),
  MODEL_ALIASES: stringMap(),
  STUDIO_MODELS: stringMap().superRefine((models, context) => {
    for (const [name, id] of Object.entries(models ?? {})) {
      if (routeModel(id).target === "studio") continue;
      context.addIssue({ code: "custom", message: `${JSON.stringify(name)} needs a UUID` });
    }
  }),
  AGENT_SYSTEM_PROMPT: z.string().default(SYSTEM_PROMPT)
    .transform((prompt) => prompt.trim() === "none" ? "" : prompt),
  AGENT_TEMPERATURE: z.coerce.number({ error: "must be a number from 0 to 2" }).min(0).max(2)
    .optional(),
  AGENT_MAX_TOKENS: wholeNumber({ min: 1 }).optional(),
  AGENT_MAX_STEPS: integer(12, { min: 1, max: 1000 }),
  HUB_FALLBACK: list(),
  AGENT_TOOLS: list(["current_time", "calculator"])
    .transform((names) => names.join() === "none" ? [] : names)
    .pipe(z.array(z.enum(TOOL_NAMES))),
  TOOL_TIMEOUT_MS: milliseconds(30_000, { min: 1 }),
  TAVILY_API_KEY: headerKey().optional(),
  TAVILY_BASE_URL: address().default("https://api.tavily.com"),
  AGENT_MCP_CONFIG: z.string().optional(),
}).superRefine(checkModels).superRefine(checkTools)
  .superRefine(
    checkCredentials([...PROVIDER_NAMES.map((name) => name.toUpperCase()), "TAVILY"]),
  );
export type AgentConfig = z.infer<typeof AgentConfig>;

/** Address and key of each provider. */
function providerVariables() {
  const key = () => headerKey().optional();
  const variables = PROVIDER_NAMES.map(settingsOf).flatMap((names) => [
    [names.address, address()],
    [names.key, key()],
  ]);
  return Object.fromEntries(variables) as
    & Record<`${Uppercase<ProviderName>}_BASE_URL`, ReturnType<typeof address>>
    & Record<`${Uppercase<ProviderName>}_API_KEY`, ReturnType<typeof key>>;
}

/** Configured models must be routable; otherwise the first request that needs one would fail. */
function checkModels(
  { HUB_FALLBACK, HUB_BARE_MODELS, MODEL_ALIASES = {} }: {
    HUB_FALLBACK: string[];
    HUB_BARE_MODELS: "on" | "off";
    MODEL_ALIASES?: Record<string, string> | undefined;
  },
  context: z.RefinementCtx,
): void {
  const refuse = (variable: string, message: string) =>
    context.addIssue({ code: "custom", path: [variable], message });
  const isBare = HUB_BARE_MODELS === "on";
  for (const [alias, model] of Object.entries(MODEL_ALIASES)) {
    const shown = JSON.stringify(alias);
    if (routeModel(alias).target === "studio") {
      refuse("MODEL_ALIASES", `${shown} is a UUID, which always is a fine-tuned model`);
    } else if (!routeModel(model).target && !isBare) {
      refuse("MODEL_ALIASES", `${shown} needs a UUID or <provider>/<model>`);
    }
  }
  for (const id of HUB_FALLBACK) {
    const model = Object.hasOwn(MODEL_ALIASES, id) ? MODEL_ALIASES[id]! : id;
    const { target } = routeModel(model);
    if (target === "hub" || target === null && isBare) continue;
    refuse("HUB_FALLBACK", `${JSON.stringify(id)} is not of the form <provider>/<model>`);
  }
}

function checkTools(
  { AGENT_TOOLS, TAVILY_API_KEY }: { AGENT_TOOLS: string[]; TAVILY_API_KEY?: string | undefined },
  context: z.RefinementCtx,
): void {
  if (!AGENT_TOOLS.includes("web_search") || TAVILY_API_KEY) return;
  const message = "contains web_search, which needs TAVILY_API_KEY";
  context.addIssue({ code: "custom", path: ["AGENT_TOOLS"], message });
}

/** Says which settings have no effect without another one; see also `explainIdleVariables`. */
export function explainIdleSettings(config: AgentConfig): string[] {
  const { RATE_LIMIT, RATE_LIMIT_STORE, AGENT_TOOLS, TAVILY_API_KEY } = config;
  const { HUB_BASE_URL, HUB_FALLBACK } = config;
  const isIdle = {
    "RATE_LIMIT_STORE has no effect: RATE_LIMIT is not set": RATE_LIMIT_STORE && !RATE_LIMIT,
    "TAVILY_API_KEY has no effect: AGENT_TOOLS does not contain web_search": TAVILY_API_KEY &&
      !AGENT_TOOLS.includes("web_search"),
    "HUB_FALLBACK has no effect: HUB_BASE_URL is not set": HUB_FALLBACK.length > 0 && !HUB_BASE_URL,
  };
  return Object.entries(isIdle).filter(([, idle]) => idle).map(([warning]) => warning);
}

/**
 * The variables that an MCP server inherits from the service if it is a program: search path, home
 * folder, locale. Without them `npx`, `uvx` and most interpreters do not start. None of them holds a
 * secret of the service. The task's `--allow-env` names the same variables.
 */
export const INHERITED = [
  "PATH",
  "HOME",
  "USER",
  "LOGNAME",
  "SHELL",
  "TMPDIR",
  "TZ",
  "LANG",
  "LANGUAGE",
  "LC_ALL",
  "LC_COLLATE",
  "LC_CTYPE",
  "LC_MESSAGES",
  "LC_MONETARY",
  "LC_NUMERIC",
  "LC_TIME",
  // On Windows:
  "APPDATA",
  "COMSPEC",
  "LOCALAPPDATA",
  "PATHEXT",
  "PROGRAMFILES",
  "SYSTEMDRIVE",
  "SYSTEMROOT",
  "TEMP",
  "USERPROFILE",
];

/** The variables of `INHERITED` that are set. */
export function readProgramEnvironment(): Record<string, string> {
  const set = INHERITED.flatMap((name) => {
    const value = Deno.env.get(name);
    return value === undefined ? [] : [[name, value]];
  });
  return Object.fromEntries(set);
}

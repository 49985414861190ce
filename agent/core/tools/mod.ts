import { createWorkerBoard, type WorkerBoard } from "../../../shared/service/worker_call.ts";
import { lazy } from "../../../shared/service/waiting.ts";
import { silentLogger } from "../../../shared/service/log.ts";
import { createCalculator } from "./calculator.ts";
import { createCurrentTime } from "./current_time.ts";
import { createFetchUrl, createPageConverter } from "./fetch_url.ts";
import type { Tool } from "./tool.ts";
import { createWebSearch } from "./web_search.ts";

/** The settings of the built-in tools. */
interface ToolSettings {
  AGENT_TOOLS: string[];
  TAVILY_API_KEY?: string | undefined;
  TAVILY_BASE_URL: string;
}

/** The built-in tools, in the order in which the model sees them. */
const CREATORS = {
  current_time: () => createCurrentTime(),
  calculator: () => createCalculator(),
  fetch_url: (_, workers) =>
    createFetchUrl({
      connect: lazy(async () => {
        const { createPublicFetch } = await import("../../../shared/http/public_fetch.ts");
        return createPublicFetch();
      }),
      converter: createPageConverter({ onEvent: workers.watch("page") }),
    }),
  // The configuration is valid only with a key for it.
  web_search: ({ TAVILY_API_KEY: apiKey = "", TAVILY_BASE_URL: baseUrl }) =>
    createWebSearch({ apiKey, baseUrl }),
} satisfies Record<string, (settings: ToolSettings, workers: WorkerBoard) => Tool>;

export const TOOL_NAMES = Object.keys(CREATORS) as (keyof typeof CREATORS)[];

/**
 * The built-in tools that `AGENT_TOOLS` selects, in the order in which the model sees them.
 * `workers` watches the workers that they use.
 */
export function createTools(
  settings: ToolSettings,
  workers: WorkerBoard = createWorkerBoard(silentLogger),
): Tool[] {
  return TOOL_NAMES.filter((name) => settings.AGENT_TOOLS.includes(name))
    .map((name) => CREATORS[name](settings, workers));
}

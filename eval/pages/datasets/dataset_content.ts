import { ApiProblem } from "../../../shared/pages/api_problem.ts";
import type { Scenario } from "../../test/scenario.ts";
import type { WrittenDataset } from "../../http/dataset_routes.ts";
import { datasetLines, listVersions, putDataset } from "../api.ts";

/** The most that is read to be shown. */
const MOST_SCENARIOS = 2_000;
const MOST_CHARACTERS = 16_000_000;

/** The first scenarios of a version. */
interface ReadScenarios {
  scenarios: Scenario[];
  isWhole: boolean;
}

export async function readScenarios(
  name: string,
  version: string,
  most = MOST_SCENARIOS,
): Promise<ReadScenarios> {
  const scenarios: Scenario[] = [];
  let characters = 0;
  for await (const line of datasetLines(name, version)) {
    characters += line.length;
    if (scenarios.length === most || characters > MOST_CHARACTERS) {
      return { scenarios, isWhole: false };
    }
    scenarios.push(JSON.parse(line));
  }
  return { scenarios, isWhole: true };
}

/** Writes a version that is like `version`, with other lines: one scenario each, as JSON. */
export async function changeDataset(
  name: string,
  { version, change }: { version: string; change: (lines: string[]) => string[] },
): Promise<WrittenDataset> {
  const lines = await Array.fromAsync(datasetLines(name, version));
  return await writeLines(name, change(lines));
}

/** The latest version; `undefined` if there is no such dataset. */
export async function latestVersion(name: string): Promise<string | undefined> {
  try {
    return (await listVersions(name)).versions[0]?.version;
  } catch (error) {
    if (error instanceof ApiProblem && error.status === 404) return undefined;
    throw error;
  }
}

/** Adds a scenario behind the latest version's; begins a dataset if there is none. */
export async function appendScenario(name: string, scenario: Scenario): Promise<WrittenDataset> {
  const version = await latestVersion(name);
  const lines = version ? await Array.fromAsync(datasetLines(name, version)) : [];
  const ids = new Set(lines.map((line) => (JSON.parse(line) as Scenario).id));
  return await writeLines(name, [
    ...lines,
    JSON.stringify({ ...scenario, id: freeId(scenario.id, ids) }),
  ]);
}

/** The id, or with a number if it is taken: `greeting`, `greeting-2`. */
export function freeId(id: string, taken: ReadonlySet<string>): string {
  let free = id;
  for (let number = 2; taken.has(free); number++) free = `${id}-${number}`;
  return free;
}

function writeLines(name: string, lines: string[]): Promise<WrittenDataset> {
  const file = { content: lines.join("\n"), type: "application/jsonl" };
  return putDataset(name, file, { format: "jsonl" });
}

import { query } from "../../../../shared/pages/location.ts";
import type { Parameters } from "../../source.ts";

/** The names that a filter has in the address, and in the API. */
const NAMES: Record<string, string> = {
  q: "text",
  outcome: "outcome",
  score: "score",
  min: "min",
  max: "max",
  label_key: "label_key",
  expected: "expected",
  found: "found",
  scenario: "scenario_id",
  attempt: "attempt_id",
  latency_min: "latency_min",
  latency_max: "latency_max",
  agreement: "agreement",
  graded: "graded",
  since: "baseline",
  change: "change",
};

/** What fails: a call, a score below the threshold, or a required check. */
export const FAILING = "failed,below";

/** The lowest score of each turn first: failing turns, and not all attempts at one of them. */
export const WORST_FIRST = "worst";
export const NEWEST_FIRST = "-seq";

/** The filters and the order of the address, as the API takes them. */
export function turnParameters({ sort = WORST_FIRST }: { sort?: string } = {}): Parameters {
  const parameters: Parameters = {};
  for (const [name, parameter] of Object.entries(NAMES)) {
    parameters[parameter] = query.value.get(name) ?? undefined;
  }
  return { ...parameters, sort: query.value.get("sort") ?? sort };
}

/** Filters of the address as parameters of the API, such as `{ since: "…" }`. */
export function toParameters(filters: Record<string, string>): Parameters {
  return Object.fromEntries(
    Object.entries(filters).map(([name, value]) => [NAMES[name] ?? name, value]),
  );
}

/** Whether any turn may be hidden by a filter. */
export function isFiltered(): boolean {
  return Object.keys(NAMES).some((name) =>
    !["score", "change"].includes(name) && query.value.get(name)
  );
}

/** Changes that remove every filter. */
export function noFilters(): Record<string, undefined> {
  return Object.fromEntries(Object.keys(NAMES).map((name) => [name, undefined]));
}

/** How many lines of each text a row shows, and about how high it is then. */
export const LINES = { "3": 108, "1": 72, all: 180 };
export type Lines = keyof typeof LINES;

/** The lines that the address asks for. */
export function readLines(): Lines {
  const lines = query.value.get("lines") ?? "3";
  return lines in LINES ? lines as Lines : "3";
}

/** Whether the address asks for texts as they are, and not for Markdown. */
export function isPlain(): boolean {
  return query.value.get("text") === "plain";
}

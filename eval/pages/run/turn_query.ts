import { query } from "../../../shared/pages/location.ts";
import type { Parameters } from "../source.ts";

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
};

/** What fails: a call, a score below the threshold, or a required check. */
export const FAILING = "failed,below";

/** The lowest scores first, so that failing turns are. */
export const WORST_FIRST = "overall";

/** The filters and the order of the address, as the API takes them. */
export function turnParameters(): Parameters {
  const parameters: Parameters = {};
  for (const [name, parameter] of Object.entries(NAMES)) {
    parameters[parameter] = query.value.get(name) ?? undefined;
  }
  return { ...parameters, sort: query.value.get("sort") ?? WORST_FIRST };
}

/** Whether any turn may be hidden by a filter. */
export function isFiltered(): boolean {
  return Object.keys(NAMES).some((name) => name !== "score" && query.value.get(name));
}

/** Changes that remove every filter. */
export function noFilters(): Record<string, undefined> {
  return Object.fromEntries(Object.keys(NAMES).map((name) => [name, undefined]));
}

import type { Check } from "../../schemas/checks.ts";
import { listOf, oneLineOf } from "./shown.ts";

/** What a check is called in reports: its own name, or its type and value. */
export function nameOf(check: Check): string {
  return check.name ?? `${check.negate ? "not " : ""}${describe(check)}`;
}

function describe(check: Check): string {
  switch (check.type) {
    case "json":
      return check.value === undefined ? "json" : "json of a schema";
    case "refusal":
      return "refusal";
    case "similar":
      return `similar ${check.min} to ${
        check.value === undefined ? "the reference" : oneLineOf(check.value)
      }`;
    case "contains":
      return `contains ${listOf([check.value].flat(), check.match === "any" ? " or " : ", ")}`;
    case "max_chars":
    case "max_words":
    case "max_latency_ms":
    case "max_first_token_ms":
    case "max_output_tokens":
      return `${check.type} ${check.value}`;
    case "language":
      return `language ${[check.value].flat().join(" or ")}`;
    case "judge":
      return `judge: ${oneLineOf(check.value).slice(1, -1)}`;
    default:
      return `${check.type} ${listOf([check.value].flat())}`;
  }
}

import type { CheckCase } from "./cases.ts";

/** promptfoo's counterpart of a check; `undefined` if it has none. */
export function toAssertion(check: CheckCase[0]): { type: string; value?: unknown } | undefined {
  const found = counterpart(check);
  if (!found || !check.negate) return found;
  return { ...found, type: `not-${found.type}` };
}

function counterpart(check: CheckCase[0]): { type: string; value?: unknown } | undefined {
  switch (check.type) {
    case "contains": {
      const type = check.ignore_case ? "icontains" : "contains";
      if (typeof check.value === "string") return { type, value: check.value };
      return { type: `${type}-${check.match ?? "all"}`, value: check.value };
    }
    case "not_contains": {
      const type = check.ignore_case ? "not-icontains" : "not-contains";
      return typeof check.value === "string"
        ? { type, value: check.value }
        : { type: `${type}-any`, value: check.value };
    }
    case "equals":
    case "starts_with":
      if (check.ignore_case || typeof check.value !== "string") return undefined;
      return { type: check.type.replace("_", "-"), value: check.value };
    case "regex":
      return check.ignore_case ? undefined : { type: "regex", value: check.value };
    case "json": {
      const type = check.anywhere ? "contains-json" : "is-json";
      if (typeof check.value === "boolean") return undefined;
      return check.value === undefined ? { type } : { type, value: check.value };
    }
    case "max_words":
      return { type: "word-count", value: { max: check.value } };
    case "refusal":
      return { type: "is-refusal" };
    default:
      return undefined;
  }
}

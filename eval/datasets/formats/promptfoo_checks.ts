import type { ImportContext } from "./format.ts";
import { isFields } from "../../../shared/fields.ts";
import { render } from "./promptfoo_template.ts";

type Values = Record<string, unknown>;

interface AssertContext extends Pick<ImportContext, "leaveOut"> {
  values: Values;
  line: number;
  /** Of the test: the share of its assertions that is enough. */
  threshold: unknown;
}

/** An assertion without its `not-`, its text filled in. */
interface Assertion {
  value: unknown;
  threshold: unknown;
}

/** What an assertion becomes; `undefined` if it has no counterpart. */
type Translate = (assertion: Assertion) => Values | undefined;

const text = (type: string, more: Values = {}): Translate => ({ value }) =>
  typeof value === "string" || typeof value === "number"
    ? { type, value: String(value), ...more }
    : undefined;

/** A list, or a text with commas between. */
const texts = (more: Values): Translate => ({ value }) => {
  const list = typeof value === "string" ? value.split(",").map((part) => part.trim()) : value;
  return Array.isArray(list) && list.length > 0
    ? { type: "contains", value: list.map(String), ...more }
    : undefined;
};

const schema = (more: Values): Translate => ({ value }) =>
  value === undefined
    ? { type: "json", ...more }
    : isFields(value)
    ? { type: "json", value, ...more }
    : undefined;

const TRANSLATIONS: Record<string, Translate> = {
  "equals": ({ value }) =>
    isFields(value) || Array.isArray(value)
      ? { type: "json", value: { const: value } }
      : text("equals")({ value, threshold: undefined }),
  "contains": text("contains"),
  "icontains": text("contains", { ignore_case: true }),
  "contains-all": texts({ match: "all" }),
  "contains-any": texts({ match: "any" }),
  "icontains-all": texts({ match: "all", ignore_case: true }),
  "icontains-any": texts({ match: "any", ignore_case: true }),
  "starts-with": text("starts_with"),
  "regex": text("regex"),
  "is-json": schema({}),
  "contains-json": schema({ anywhere: true }),
  "is-refusal": () => ({ type: "refusal" }),
  "latency": ({ threshold }) =>
    typeof threshold === "number" ? { type: "max_latency_ms", value: threshold } : undefined,
  "similar": ({ value, threshold }) =>
    typeof value === "string"
      ? { type: "similar", value, ...(typeof threshold === "number" && { min: threshold }) }
      : undefined,
  "llm-rubric": text("judge"),
  "model-graded-closedqa": text("judge"),
  "g-eval": text("judge"),
};

/** Assertions whose value is what the model should have said. */
const REFERENCES = new Set(["equals", "similar", "factuality", "model-graded-factuality"]);

/**
 * Assertions as checks. In promptfoo every assertion must hold unless the test has a threshold, so
 * the checks are required then.
 */
export function toChecks(
  asserts: unknown[],
  { values, line, threshold: ofTest, leaveOut }: AssertContext,
): { checks: Values[]; reference: string | undefined } {
  const checks: Values[] = [];
  let reference: string | undefined;
  for (const assert of asserts) {
    const { type: fullType, value: raw, threshold, weight, metric } = isFields(assert)
      ? assert
      : {};
    if (typeof fullType !== "string") {
      leaveOut("assertions without a type", line);
      continue;
    }
    const isNegated = fullType.startsWith("not-");
    const type = isNegated ? fullType.slice("not-".length) : fullType;
    const value = typeof raw === "string" ? render(raw, { values, line, leaveOut }) : raw;
    if (REFERENCES.has(type) && typeof value === "string" && !isNegated) reference ??= value;
    const isInFile = typeof value === "string" && /^(?:file|python|package):/.test(value);
    const check = isInFile ? undefined : TRANSLATIONS[type]?.({ value, threshold });
    if (!check || weight === 0) {
      if (!REFERENCES.has(type)) leaveOut(`assertions of the type ${fullType.slice(0, 60)}`, line);
      continue;
    }
    checks.push({
      ...check,
      ...(isNegated && { negate: true }),
      ...(typeof weight === "number" && { weight }),
      ...(typeof metric === "string" && metric.trim() !== "" && { name: metric.slice(0, 256) }),
      ...(ofTest === undefined && { required: true }),
    });
  }
  return { checks, reference };
}

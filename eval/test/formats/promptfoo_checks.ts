import { isForeignPattern } from "../../score/pattern.ts";
import { parseYaml } from "./bounded_yaml.ts";
import { type ImportContext, ImportError } from "./format.ts";
import { type Fields, isFields } from "../../../shared/service/fields.ts";

type Values = Record<string, unknown>;

interface AssertContext extends Pick<ImportContext, "leaveOut"> {
  values: Values;
  line: number;
  /** The expected reply that the prompt has. */
  reference: string | undefined;
  /** Of the test: the share of its assertions that is enough. */
  threshold: unknown;
  /** Whether the test's assertions look at what a program makes of the reply. */
  isTransformed: boolean;
}

/** An assertion without its `not-`, its text filled in. */
interface Assertion {
  value: unknown;
  threshold: unknown;
}

/** What an assertion becomes; `undefined` if it has no counterpart. */
type Translate = (assertion: Assertion) => Values | undefined;

const isText = (value: unknown): value is string | number =>
  typeof value === "string" || typeof value === "number";

const text = (type: string, more: Values = {}): Translate => ({ value }) =>
  isText(value) ? { type, value: String(value), ...more } : undefined;

/** One of several texts in a row: in quotation marks, or up to a comma. */
const FIELD = /"((?:[^"\\]|\\.|"")*)"|[^\s,][^,]*/gs;

/** `a, "b, c"` is `a` and `b, c`. */
function splitFields(row: string): string[] {
  return [...row.matchAll(FIELD)].map(([field, quoted]) =>
    quoted?.replace(/\\(["\\])|"(")/g, "$1$2") ?? field.trim()
  );
}

/** A list, or a text with commas between. */
const texts = (more: Values): Translate => ({ value }) => {
  const list = typeof value === "string" ? splitFields(value) : value;
  return Array.isArray(list) && list.length > 0 && list.every(isText)
    ? { type: "contains", value: list.map(String), ...more }
    : undefined;
};

const schema = (more: Values): Translate => ({ value }) =>
  value === undefined
    ? { type: "json", ...more }
    : isFields(value)
    ? { type: "json", value, ...more }
    : undefined;

const TRANSLATIONS = new Map<string, Translate>(Object.entries({
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
}));

/** Assertions that need nothing else: the reply is scored against the reference. */
const FACTUALITY = new Set(["factuality", "model-graded-factuality"]);
/** Assertions whose value is the expected reply. */
const REFERENCES = new Set(["equals", "similar", ...FACTUALITY]);
/** Assertions whose value is a JSON Schema, or the JSON or YAML of one. */
const SCHEMAS = new Set(["is-json", "contains-json"]);
/** Assertions whose threshold becomes part of the check. */
const WITH_THRESHOLD = new Set(["latency", "similar"]);

/**
 * Assertions as checks, and the reference among them. In promptfoo every assertion must hold unless
 * the test has a threshold, so the checks are required then.
 */
export function toChecks(
  asserts: unknown[],
  { values, line, threshold: ofTest, isTransformed, leaveOut, ...context }: AssertContext,
): { checks: Values[]; reference: string | undefined } {
  const checks: Values[] = [];
  let { reference } = context;
  for (const assert of asserts) {
    const { type: fullType, value: raw, threshold, weight, metric, ...rest } = isFields(assert)
      ? assert
      : {};
    if (typeof fullType !== "string") {
      leaveOut("$ref" in rest ? "assertions with $ref" : "assertions without a type", line);
      continue;
    }
    const isNegated = fullType.startsWith("not-");
    const type = isNegated ? fullType.slice("not-".length) : fullType;
    const name = `assertions of the type ${fullType.slice(0, 60)}`;
    const rendered = renderAll(raw, { values, line, leaveOut });
    if (isInFile(rendered)) {
      leaveOut(`${name} in other files`, line);
      continue;
    }
    const value = SCHEMAS.has(type) ? readSchema(rendered) : rendered;
    const expected = REFERENCES.has(type) && isText(value) && !isNegated
      ? String(value)
      : undefined;
    reference ??= expected;
    // The assertion is about the transformed text, not about the reply.
    if ((isTransformed && type !== "latency") || rest.transform !== undefined) {
      leaveOut(`${name} with a transform`, line);
      continue;
    }
    if (type === "regex" && isText(value) && isForeignPattern(String(value))) {
      leaveOut(`${name} that RE2 cannot use, such as lookaround`, line);
      continue;
    }
    const check = TRANSLATIONS.get(type)?.({ value, threshold });
    if (!check || weight === 0) {
      const isReference = FACTUALITY.has(type) && expected !== undefined && expected === reference;
      if (!isReference) leaveOut(name, line);
      continue;
    }
    for (const field of Object.keys(rest)) leaveOut(`${field} of ${name}`, line);
    if (threshold !== undefined && !WITH_THRESHOLD.has(type)) {
      leaveOut(`threshold of ${name}`, line);
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

function readSchema(value: unknown): unknown {
  if (value === null || value === "") return undefined;
  if (typeof value !== "string") return value;
  try {
    return parseYaml(value);
  } catch {
    return value;
  }
}

/** True also if only one of several values is. */
function isInFile(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(isInFile);
  return typeof value === "string" && /^(?:file|python|package):/.test(value);
}

/** Variables in variables, as deep as promptfoo looks for them. */
const MOST_ROUNDS = 5;
/** Characters that variables may add: those that contain each other would grow without end. */
const MOST_CHARACTERS = 16_000_000;
/** The blanks around a name are not part of the pattern: its time would grow with their third power. */
const EXPRESSION = /\{\{([^{}]*)\}\}/g;

interface TemplateContext extends Pick<ImportContext, "leaveOut"> {
  values: Fields;
  line: number;
}

/**
 * Puts variables into a text, also into one another: `{{ name }}` and `{{ name.key }}`. Other
 * expressions stay as they are, and are reported.
 */
export function render(text: string, { values, line, leaveOut }: TemplateContext): string {
  let characters = 0;
  let filled = text;
  for (let round = 0, before = ""; round < MOST_ROUNDS && filled !== before; round++) {
    before = filled;
    filled = before.replaceAll(EXPRESSION, (whole, inside: string) => {
      const value = readPath(values, inside.trim());
      if (value === undefined) return whole;
      // As in promptfoo, a line end at the end of a variable is not part of it.
      const shown = typeof value === "string" ? value.replace(/\n$/, "") : JSON.stringify(value);
      characters += shown.length;
      if (characters > MOST_CHARACTERS) {
        throw new ImportError(
          line,
          `its variables make a text of over ${MOST_CHARACTERS} characters`,
        );
      }
      return shown;
    });
  }
  for (const [whole] of filled.matchAll(EXPRESSION)) {
    leaveOut(`the template expression ${whole.slice(0, 60)}`, line);
  }
  if (filled.includes("{%")) leaveOut("template statements ({% … %})", line);
  return filled;
}

/** Renders every text inside a list or an object. Names of fields stay as they are. */
export function renderAll(value: unknown, context: TemplateContext): unknown {
  if (typeof value === "string") return render(value, context);
  if (Array.isArray(value)) return value.map((item) => renderAll(item, context));
  if (!isFields(value)) return value;
  const fields = Object.entries(value).map(([name, field]) => [name, renderAll(field, context)]);
  return Object.fromEntries(fields);
}

function readPath(values: Fields, path: string): unknown {
  let found: unknown = values;
  for (const key of path.split(".")) {
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, key)) return undefined;
    found = (found as Fields)[key];
  }
  return found;
}

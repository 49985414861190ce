import addFormats from "ajv-formats";
import { errorMessage } from "../../shared/service/errors.ts";
import { Ajv, type AnySchema, type ValidateFunction } from "ajv";
import { Ajv2019 } from "ajv/dist/2019.js";
import { Ajv2020 } from "ajv/dist/2020.js";
import type { RE2JS } from "re2js";
import { asFields, isFields } from "../../shared/service/fields.ts";
import { type CheckOf, decisionOf } from "../test/check_kinds.ts";
import { rememberLast } from "./background/remember_last.ts";
import { findObjects } from "./json_objects.ts";
import { decide, type Decision, notMet, oneLineOf, untold } from "../test/decision.ts";
import { compilePattern } from "./pattern.ts";
import { identifyLanguage } from "./language/language.ts";
import { serveCalls, stoppable } from "../../shared/service/serve_calls.ts";
import type { CheckedText, CheckWork } from "./content_checks.ts";
import { measure } from "./checks/measures.ts";

/**
 * Decides checks of patterns, schemas, languages and long texts in a worker, because compiling a
 * schema or matching a long reply may block for a long time.
 */
serveCalls(
  stoppable((work: CheckWork): Decision[] | (string | null)[] =>
    "inspect" in work ? work.inspect.map(inspectCompiled) : work.decide.map(decideContent)
  ),
);

function decideContent({ check, ...reply }: CheckedText): Decision {
  if (check.type === "regex") return decideRegex(check, reply.text);
  if (check.type === "json") return decideJson(check, reply.text);
  if (check.type === "language") return decideLanguage(check, reply.text);
  return decisionOf(check)!(check, measure(reply));
}

const LONGEST_TEXT = 200_000;
/** How many patterns, and how many schemas, are kept compiled. */
const REMEMBERED = 200;

/** What is wrong with a pattern or a schema; `null` if nothing is. */
function inspectCompiled(check: CheckOf<"regex" | "json">): string | null {
  try {
    if (check.type === "regex") patternOf(check);
    else if (check.value !== undefined) apply(schemaOf(JSON.stringify(check.value)), [{}]);
    return null;
  } catch (error) {
    return errorMessage(error);
  }
}

function decideRegex(check: CheckOf<"regex">, text: string): Decision {
  if (text.length > LONGEST_TEXT) return tooLong();
  return decide(patternOf(check).test(text), `nothing in it matches ${oneLineOf(check.value)}`);
}

function decideJson({ value, anywhere }: CheckOf<"json">, text: string): Decision {
  if (text.length > LONGEST_TEXT) return tooLong();
  const found = readJson(text, anywhere === true);
  if (found.length === 0) return notMet(anywhere ? "it has no JSON object" : "it is not JSON");
  if (value === undefined) return decide(true, "");
  const validate = schemaOf(JSON.stringify(value));
  return decide(
    apply(validate, found),
    `its JSON does not match the schema: ${firstFault(validate)}`,
  );
}

/**
 * How often a schema and what it refers to may be applied to one reply. Forty definitions that each
 * name the next one twice are applied 2⁴⁰ times, and keep an error for each.
 */
const MOST_STEPS = 100_000;
let steps = 0;

function countStep(): void {
  if (++steps <= MOST_STEPS) return;
  const most = MOST_STEPS.toLocaleString("en");
  throw new Error(
    `the schema refers to its parts so often that they are applied over ${most} times`,
  );
}

/** Whether one of the values is valid. */
function apply(validate: ValidateFunction, values: unknown[]): boolean {
  steps = 0;
  try {
    return values.some((value) => validate(value) === true);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new Error("the schema refers to itself, or the text is nested, too deeply");
  }
}

function tooLong(): Decision {
  return untold(`the text is longer than ${LONGEST_TEXT.toLocaleString("en")} characters`);
}

function readJson(text: string, anywhere: boolean): unknown[] {
  try {
    return [JSON.parse(text)];
  } catch {
    return anywhere ? findObjects(text).map(({ value }) => value) : [];
  }
}

function firstFault({ errors }: ValidateFunction): string {
  const [first] = errors ?? [];
  return first ? `${first.instancePath || "/"} ${first.message}` : "it is not allowed";
}

const remembered = rememberLast(compilePattern, REMEMBERED);

function patternOf({ value, ignore_case }: CheckOf<"regex">): RE2JS {
  return remembered(ignore_case ? `(?i)${value}` : value);
}

const options = {
  strict: false,
  logger: false as const,
  code: {
    optimize: false, // it doubles the time to compile, and most schemas are used only a few times
    // JavaScript's own engine may take exponential time on a caller's pattern.
    regExp: Object.assign((source: string) => remembered(source), { code: "" }),
  },
};
/** For a caller's schema: each reference is a call, and counts. */
const counted = {
  ...options,
  validateSchema: false,
  inlineRefs: false,
  code: {
    ...options.code,
    countStep,
    process: (code: string) => code.replace("let vErrors = null;", "$&self.opts.code.countStep();"),
  },
};
/** By the draft of JSON Schema. Ajv's classes have the same interface as far as it is used here. */
const DRAFTS = {
  "7": Ajv,
  "2019": Ajv2019 as unknown as typeof Ajv,
  "2020": Ajv2020 as unknown as typeof Ajv,
};
type Draft = keyof typeof DRAFTS;

/** Keywords that draft 7 does not know and would ignore. */
const SINCE_2020 = /"(?:prefixItems|\$dynamicRef)":/;
const SINCE_2019 =
  /"(?:dependentRequired|dependentSchemas|unevaluatedProperties|unevaluatedItems|minContains|maxContains)":/;

/** The draft that `$schema` names, else the first that has all keywords; older ones are draft 7. */
function draftOf(named: unknown, text: string): Draft {
  if (typeof named === "string") {
    return named.includes("2020-12") ? "2020" : named.includes("2019-09") ? "2019" : "7";
  }
  return SINCE_2020.test(text) ? "2020" : SINCE_2019.test(text) ? "2019" : "7";
}

/** These only validate schemas and never register one: the worker serves all callers. */
const validators = new Map<Draft, Ajv>();

function requireValid(schema: AnySchema, draft: Draft): void {
  validators.getOrInsertComputed(draft, () => new DRAFTS[draft](options))
    .validateSchema(schema, true);
}

/**
 * By the text of the schema. Each schema has its own engine: a shared one would register every
 * `$id` in a schema, and then refuse the same id in another caller's schema, or lose the draft if
 * it was the id of the draft.
 */
const schemaOf = rememberLast(
  (text: string): ValidateFunction => {
    const value: unknown = JSON.parse(text);
    // An engine accepts only one spelling of its own draft in `$schema`.
    const { $schema, ...rest } = asFields(value);
    const schema = isFields(value) ? rest : value as boolean;
    const draft = draftOf($schema, text);
    requireValid(schema, draft);
    // Without it a schema cannot refer to itself; the id of a draft is taken.
    const addUsedSchema = !/^https?:\/\/json-schema\.org\//.test(String(rest.$id));
    const engine = new DRAFTS[draft]({ ...counted, addUsedSchema });
    addFormats.default(engine);
    return engine.compile(schema);
  },
  REMEMBERED,
  { longest: 100_000 },
);

/** Code blocks (including one that is cut off), inline code, and URLs. */
const CODE = /(^|\n)[ \t]*(```|~~~).*?(?:\n[ \t]*\2|$)|`[^`\n]+`|\bhttps?:\/\/\S+/gs;
const LETTER = /\p{L}/u;

/** Looks at the words of a reply only, because code looks like English. */
function decideLanguage({ value }: CheckOf<"language">, text: string): Decision {
  const wanted = [value].flat();
  if (!LETTER.test(text)) return notMet("it has no letters");
  const words = text.replaceAll(CODE, " ");
  if (!LETTER.test(words)) return untold("it has only code and URLs");
  const { code, isReliable } = identifyLanguage(words);
  if (wanted.includes(code)) return decide(true, "");
  return isReliable
    ? notMet(`it is in "${code}"`)
    : untold("the text is too short to identify its language");
}

import { z } from "zod";

/** How many checks one turn may have, those of its scenario included. */
export const MAX_CHECKS = 200;

const LONGEST_NAME = 256;
const LONGEST_TEXT = 20_000;
const LONGEST_PATTERN = 1_000;
const LONGEST_CRITERION = 4_000;
/** In characters of JSON text: of one schema, and of all schemas in one list of checks. */
const LARGEST_SCHEMA = 64_000;
const LARGEST_SCHEMAS = 256_000;
const MOST_VALUES = 100;

/** The languages that the detector knows, as ISO 639-1. */
export const LANGUAGES = [
  ..."am ar az be bg bn ca cs da de el en es et eu fa fi fr gu he hi hr hu hy is it ja ka kn ko"
    .split(
      " ",
    ),
  ..."ku lo lt lv ml mr ms nl no or pa pl pt ro ru sk sl sq sr sv ta te th tl tr uk ur vi yo zh"
    .split(
      " ",
    ),
] as [string, ...string[]];

/** What every check may have. */
const common = {
  name: z.string().trim().min(1).max(LONGEST_NAME).optional().meta({
    description: "Names the check in reports; made from its type and value if unset.",
  }),
  weight: z.number().gt(0, { error: "must be greater than 0" }).max(1_000_000).optional().meta({
    description: "Its share in `checks`; 1 if unset.",
  }),
  required: z.boolean().optional().meta({
    description: "`true`: a turn whose check fails does not pass, whatever its scores are.",
  }),
  negate: z.boolean().optional().meta({
    description: "`true`: the check holds if what it looks for is not so.",
  }),
};

const Text = z.string().min(1).max(LONGEST_TEXT);
const Texts = z.union([Text, z.array(Text).min(1).max(MOST_VALUES)]);
const Limit = z.number().min(0);
const ignore_case = z.boolean().optional().meta({
  description: "`true`: capital and small letters are the same.",
});

function limit<Type extends string>(type: Type, description: string) {
  return z.strictObject({ type: z.literal(type), value: Limit, ...common }).meta({ description });
}

/** One expectation of a reply that is met or not. Unknown fields are refused: they are typos. */
export const Check = z.discriminatedUnion("type", [
  z.strictObject({
    type: z.literal("contains"),
    value: Texts,
    match: z.enum(["all", "any"]).optional().meta({
      description: "Of several values: whether all must occur, or one; `all` if unset.",
    }),
    ignore_case,
    ...common,
  }).meta({ description: "A text occurs in the reply." }),
  z.strictObject({ type: z.literal("not_contains"), value: Texts, ignore_case, ...common })
    .meta({ description: "None of the texts occurs in the reply." }),
  z.strictObject({
    type: z.literal("equals"),
    value: z.union([z.string().max(LONGEST_TEXT), z.array(Text).min(1).max(MOST_VALUES)]),
    ignore_case,
    ...common,
  }).meta({ description: "The reply is one of the texts." }),
  z.strictObject({ type: z.literal("starts_with"), value: Texts, ignore_case, ...common })
    .meta({ description: "The reply begins with one of the texts." }),
  z.strictObject({
    type: z.literal("regex"),
    value: z.string().min(1).max(LONGEST_PATTERN).meta({ description: "In RE2 syntax." }),
    ignore_case,
    ...common,
  }).meta({ description: "The pattern is found anywhere in the reply." }),
  z.strictObject({
    type: z.literal("json"),
    // `Checks` bounds its size.
    value: z.union([z.boolean(), z.record(z.string(), z.unknown())]).optional().meta({
      description: "A JSON Schema; any JSON is enough if it is unset.",
    }),
    anywhere: z.boolean().optional().meta({
      description: "`true`: an object inside other text counts too, such as one in a code fence.",
    }),
    ...common,
  }).meta({ description: "The reply is JSON." }),
  limit("max_chars", "The reply has at most so many characters."),
  limit("max_words", "The reply has at most so many words."),
  limit("max_latency_ms", "The reply took at most so many milliseconds."),
  limit("max_first_token_ms", "The first token of the reply came within so many milliseconds."),
  limit("max_output_tokens", "The reply has at most so many tokens."),
  z.strictObject({
    type: z.literal("language"),
    value: z.union([z.enum(LANGUAGES), z.array(z.enum(LANGUAGES)).min(1)]),
    ...common,
  }).meta({ description: "The reply is in one of the languages (ISO 639-1)." }),
  z.strictObject({
    type: z.literal("similar"),
    value: Text.optional().meta({ description: "The turn's `reference_reply` if it is unset." }),
    min: z.number().min(0).max(1).default(0.7).meta({
      description: "The lowest `semantic_similarity` that is enough.",
    }),
    ...common,
  }).meta({ description: "The reply means about the same as the text." }),
  z.strictObject({
    type: z.literal("judge"),
    value: z.string().trim().min(1).max(LONGEST_CRITERION).meta({
      description: "What must be true of the reply, in words for the judge.",
    }),
    ...common,
  }).meta({ description: "The judge finds that it is so." }),
  z.strictObject({ type: z.literal("refusal"), ...common })
    .meta({ description: "The reply declines to do what it was asked." }),
]).meta({ id: "Check", description: "One expectation of a reply that is met or not." });
export type Check = z.infer<typeof Check>;
export type CheckOf<Type extends Check["type"]> = Extract<Check, { type: Type }>;

/** What the optional fields of checks mean if they are unset. */
export const CHECK_DEFAULTS = {
  weight: 1,
  required: false,
  negate: false,
  ignore_case: false,
  match: "all",
  anywhere: false,
} as const;

export const Checks = z.array(Check).max(MAX_CHECKS).superRefine(boundSchemas);

/** Bounds the work for schemas: each is copied to a worker for every reply, and compiled there. */
function boundSchemas(checks: Check[], context: z.RefinementCtx): void {
  let left = LARGEST_SCHEMAS;
  for (const [index, check] of checks.entries()) {
    if (check.type !== "json" || check.value === undefined) continue;
    const size = JSON.stringify(check.value).length;
    left -= size;
    if (size > LARGEST_SCHEMA) {
      const message = `must have at most ${LARGEST_SCHEMA.toLocaleString("en")} characters`;
      context.addIssue({ code: "custom", path: [index, "value"], message });
    } else if (left < 0) {
      const message = `must have at most ${LARGEST_SCHEMAS.toLocaleString("en")} characters in ` +
        "all their schemas";
      context.addIssue({ code: "custom", message });
    }
    if (left < 0) return;
  }
}

/** What became of one check. `value` is `null` if it cannot be decided, and `reason` says why. */
export const CheckResult = z.object({
  name: z.string(),
  type: z.string(),
  /** `conversation`: it is about all replies of the attempt, and belongs to the last turn. */
  scope: z.literal("conversation").optional(),
  value: z.union([z.literal(0), z.literal(1), z.null()]),
  weight: z.number(),
  required: z.boolean(),
  /** Why it is not met, or not decided. */
  reason: z.string().optional(),
}).meta({ id: "CheckResult" });
export type CheckResult = z.infer<typeof CheckResult>;

/** Whether a check keeps its turn from passing. */
export function isBarring({ required, value }: CheckResult): boolean {
  return required && value === 0;
}

/** Whether a check would keep its turn from passing, but could not be decided. */
export function isOpenBar({ required, value }: CheckResult): boolean {
  return required && value === null;
}

/** How often a check was met over the turns of a run. */
export const CheckCount = z.object({
  name: z.string(),
  type: z.string(),
  required: z.boolean(),
  passed: z.number(),
  failed: z.number(),
  /** Of which it is not known: the judge, the embeddings or the check itself failed. */
  missing: z.number(),
}).meta({ id: "CheckCount" });
export type CheckCount = z.infer<typeof CheckCount>;

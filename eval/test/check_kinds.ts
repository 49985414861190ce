import { z } from "zod";
import { decide, type Decision, listOf, oneLineOf, untold } from "./decision.ts";

const LONGEST_NAME = 256;
const LONGEST_TEXT = 20_000;
const LONGEST_PATTERN = 1_000;
const LONGEST_CRITERION = 4_000;
const MOST_VALUES = 100;

/** The languages that the detector knows, as ISO 639-1. */
export const LANGUAGES = [
  ..."am ar az be bg bn ca cs da de el en es et eu fa fi fr gu he hi hr hu hy is it ja ka kn ko"
    .split(" "),
  ..."ku lo lt lv ml mr ms nl no or pa pl pt ro ru sk sl sq sr sv ta te th tl tr uk ur vi yo zh"
    .split(" "),
] as [string, ...string[]];

/** A reply, or all replies of a conversation, with its measurements. */
export interface MeasuredReply {
  text: string;
  /** Unset if the reply existed before the run. */
  latencyMs?: number | undefined;
  /** Unset if the endpoint did not stream. */
  firstTokenMs?: number | undefined;
  /** `null` if the endpoint did not report them. */
  outputTokens?: number | null;
}

/** A reply with measures that are computed only if a check needs them. */
export interface CheckedReply extends MeasuredReply {
  words(): number;
  isRefusal(): boolean;
}

/** The optional fields of every check. */
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
const Language = z.enum(LANGUAGES);
const ignore_case = z.boolean().optional().meta({
  description: "`true`: capital and small letters are the same.",
});

/** One kind of check. `CheckedBy` are the fields of such a check. */
function kind<
  Type extends string,
  Shape extends z.ZodRawShape,
  CheckedBy = z.infer<z.ZodObject<Shape>>,
>(
  type: Type,
  description: string,
  { fields, name, decide }: {
    fields: Shape;
    /** Its name in reports; made from its type and value if unset. */
    name?: (check: CheckedBy) => string;
    /** Ignores `negate`. Unset if deciding needs a worker or a model (`assess/checks/`). */
    decide?: (check: CheckedBy, reply: CheckedReply) => Decision;
  },
) {
  const schema = z.strictObject({ type: z.literal(type), ...fields, ...common })
    .meta({ description });
  return { type, schema, name, decide };
}

function limit<Type extends string>(
  type: Type,
  description: string,
  decide: (limit: number, reply: CheckedReply) => Decision,
) {
  return kind(type, description, {
    fields: { value: z.number().min(0) },
    decide: ({ value }, reply) => decide(value, reply),
  });
}

/** Every kind of check, in the order in which `/openapi.json` has them. */
const KINDS = [
  kind("contains", "A text occurs in the reply.", {
    fields: {
      value: Texts,
      match: z.enum(["all", "any"]).optional().meta({
        description: "Of several values: whether all must occur, or one; `all` if unset.",
      }),
      ignore_case,
    },
    name: ({ value, match }) =>
      `contains ${listOf([value].flat(), match === "any" ? " or " : ", ")}`,
    decide(check, reply) {
      const { values, text } = comparable(check, reply);
      const lacking = [check.value].flat().filter((_, index) => !text.includes(values[index]!));
      const isMet = check.match === "any" ? lacking.length < values.length : lacking.length === 0;
      return decide(isMet, `it does not contain ${listOf(lacking)}`);
    },
  }),
  kind("not_contains", "None of the texts occurs in the reply.", {
    fields: { value: Texts, ignore_case },
    decide(check, reply) {
      const { values, text } = comparable(check, reply);
      const found = [check.value].flat().filter((_, index) => text.includes(values[index]!));
      return decide(found.length === 0, `it contains ${listOf(found)}`);
    },
  }),
  kind("equals", "The reply is one of the texts.", {
    fields: {
      value: z.union([z.string().max(LONGEST_TEXT), z.array(Text).min(1).max(MOST_VALUES)]),
      ignore_case,
    },
    decide(check, reply) {
      const { values, text } = comparable(check, reply);
      return decide(values.includes(text), "it is not equal");
    },
  }),
  kind("starts_with", "The reply begins with one of the texts.", {
    fields: { value: Texts, ignore_case },
    decide(check, reply) {
      const { values, text } = comparable(check, reply);
      return decide(values.some((value) => text.startsWith(value)), "it starts differently");
    },
  }),
  kind("regex", "The pattern is found anywhere in the reply.", {
    fields: {
      value: z.string().min(1).max(LONGEST_PATTERN).meta({ description: "In RE2 syntax." }),
      ignore_case,
    },
  }),
  kind("json", "The reply is JSON.", {
    fields: {
      // `Checks` limits its size.
      value: z.union([z.boolean(), z.record(z.string(), z.unknown())]).optional().meta({
        description: "A JSON Schema; any JSON is enough if it is unset.",
      }),
      anywhere: z.boolean().optional().meta({
        description: "`true`: an object inside other text counts too, such as one in a code fence.",
      }),
    },
    name: ({ value }) => value === undefined ? "json" : "json of a schema",
  }),
  limit(
    "max_chars",
    "The reply has at most so many characters.",
    // In code points, as people count letters; an emoji may be several.
    (value, { text }) => atMost([...text].length, value, "characters"),
  ),
  limit(
    "max_words",
    "The reply has at most so many words.",
    (value, reply) => atMost(reply.words(), value, "words"),
  ),
  limit(
    "max_latency_ms",
    "The reply took at most so many milliseconds.",
    (value, { latencyMs }) => atMost(latencyMs, value, "ms of latency"),
  ),
  limit(
    "max_first_token_ms",
    "The first token of the reply came within so many milliseconds.",
    (value, { firstTokenMs }) =>
      atMost(firstTokenMs, value, "ms to the first token", "did not stream the reply"),
  ),
  limit(
    "max_output_tokens",
    "The reply has at most so many tokens.",
    (value, { outputTokens }) =>
      atMost(outputTokens, value, "output tokens", "did not report its output tokens"),
  ),
  kind("language", "The reply is in one of the languages (ISO 639-1).", {
    fields: { value: z.union([Language, z.array(Language).min(1)]) },
    name: ({ value }) => `language ${[value].flat().join(" or ")}`,
  }),
  kind("similar", "The reply means about the same as the text.", {
    fields: {
      value: Text.optional().meta({ description: "The turn's `reference_reply` if it is unset." }),
      min: z.number().min(0).max(1).default(0.7).meta({
        description: "The lowest `semantic_similarity` that is enough.",
      }),
    },
    name: ({ value, min }) =>
      `similar ${min} to ${value === undefined ? "the reference" : oneLineOf(value)}`,
  }),
  kind("judge", "The judge finds that it is so.", {
    fields: {
      value: z.string().trim().min(1).max(LONGEST_CRITERION).meta({
        description: "What must be true of the reply, in words for the judge.",
      }),
    },
    name: ({ value }) => `judge: ${oneLineOf(value).slice(1, -1)}`,
  }),
  kind("refusal", "The reply declines to do what it was asked.", {
    fields: {},
    decide: (_, reply) => decide(reply.isRefusal(), "it is not a refusal"),
  }),
];

type KindSchema = (typeof KINDS)[number]["schema"];

/** One expectation of a reply that is met or not. Unknown fields are refused: they are typos. */
export const Check = z.discriminatedUnion(
  "type",
  KINDS.map(({ schema }) => schema) as [KindSchema, ...KindSchema[]],
).meta({ id: "Check", description: "One expectation of a reply that is met or not." });
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

interface Kind {
  name?: ((check: Check) => string) | undefined;
  decide?: ((check: Check, reply: CheckedReply) => Decision) | undefined;
}
const BY_TYPE = new Map<string, Kind>(KINDS.map((one) => [one.type, one as Kind]));

/** Decides a check, ignoring `negate`; `undefined` if that needs a worker or a model. */
export function decisionOf(check: Check): Kind["decide"] {
  return BY_TYPE.get(check.type)?.decide;
}

/** The name of a check in reports: its own, or one from its type and value. */
export function nameOf(check: Check): string {
  return check.name ?? `${check.negate ? "not " : ""}${describe(check)}`;
}

function describe(check: Check): string {
  const name = BY_TYPE.get(check.type)?.name;
  if (name) return name(check);
  const value = "value" in check ? check.value : undefined;
  if (value === undefined) return check.type;
  return `${check.type} ${typeof value === "number" ? value : listOf([value].flat().map(String))}`;
}

/** Normalises the values and the text of a reply for comparison. */
function comparable(
  { value, ignore_case }: { value: string | string[]; ignore_case?: boolean | undefined },
  { text }: CheckedReply,
): { values: string[]; text: string } {
  const form = ignore_case ? foldCase : normalForm;
  return { values: [value].flat().map(form), text: form(text) };
}

/** `é` may be one character or two. */
function normalForm(text: string): string {
  return text.normalize("NFC");
}

/** Upper case, because there `ß` is `SS` and every sigma is the same. */
function foldCase(text: string): string {
  return text.normalize("NFC").toUpperCase().normalize("NFC");
}

/** Checks a number against its limit; `missing` is the reason if the endpoint has no number. */
function atMost(
  count: number | null | undefined,
  limit: number,
  unit: string,
  missing = "was not timed",
): Decision {
  if (count === null || count === undefined) return untold(`the endpoint ${missing}`);
  return decide(count <= limit, `it has ${count} ${unit}`);
}

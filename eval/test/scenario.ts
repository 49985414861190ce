import { z } from "zod";
import { Checks } from "./checks.ts";
import { refuseMisspelt } from "../../shared/service/field_errors.ts";
import { ReferenceTools, ToolsMode } from "./tools.ts";
import { createHash } from "node:crypto";

/** The `agent_reply` of a turn whose call failed. */
export const REQUEST_FAILED = "Request failed";

const MOST_PARTS = 50;

/** One part of a message in OpenAI's format: a text, or an image as a URL or as data. */
const UserPart = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("text"), text: z.string() }),
  z.strictObject({
    type: z.literal("image_url"),
    image_url: z.strictObject({
      url: z.string().regex(/^(https?:\/\/|data:image\/(png|jpeg|gif|webp);base64,)/, {
        error: "must be an http or https URL, or data:image/png;base64,… (png, jpeg, gif, webp)",
      }),
      detail: z.string().optional(),
    }),
  }),
]);
const UserParts = z.array(UserPart).min(1).max(MOST_PARTS);
type UserParts = z.infer<typeof UserParts>;

/**
 * The text of a message for lists, exports, scores and the judge: images are replaced by marks. The
 * mark of image data has a digest, so that messages with different images differ.
 */
function textOfParts(parts: UserParts): string {
  return parts.map((part) => part.type === "text" ? part.text : markOf(part.image_url.url))
    .join("\n");
}

function markOf(url: string): string {
  if (!url.startsWith("data:")) return `[image: ${url}]`;
  return `[image ${createHash("sha256").update(url).digest("hex").slice(0, 8)}]`;
}

/** Moves a `user_message` of parts into `user_parts`; the schema refuses invalid ones. */
function splitParts(turn: unknown): unknown {
  if (typeof turn !== "object" || turn === null || !("user_message" in turn)) return turn;
  if (!Array.isArray(turn.user_message)) return turn;
  const { data } = UserParts.safeParse(turn.user_message);
  const user_message = data ? textOfParts(data) : "";
  return { ...turn, user_message, user_parts: turn.user_message };
}

const LONGEST_ID = 256;
const MOST_REFERENCES = 50;
const MOST_MESSAGES = 200;

/** Short, because ids are in logs, lists, file names and statistics. */
export const Id = z.string().max(LONGEST_ID);

const PriorMessage = z.strictObject({ role: z.enum(["user", "assistant"]), content: z.string() });

const Metadata = z.record(z.string(), z.unknown()).meta({ id: "Metadata" });
export type Metadata = z.infer<typeof Metadata>;

/**
 * One turn of a test conversation. Unknown fields are kept and returned, unless they seem misspelt.
 * `reference_reply` has no default: a turn without a reference is not scored against an empty one.
 * `""` also means none, and is what the answer has.
 */
const interaction = {
  id: Id.meta({ description: "Pairs turns when runs are compared." }),
  user_message: z.string().meta({
    description:
      "What the model is asked: a text, or OpenAI's parts (`text`, `image_url`), which " +
      "are kept in `user_parts`.",
  }),
  user_parts: UserParts.optional().meta({
    description: "The message with its images; `user_message` is then its text with marks.",
  }),
  agent_reply: z.string().default("").meta({
    description: "Filled in by the service; without an `endpoint`: the reply that is scored.",
  }),
  reference_reply: z.string().optional().meta({
    description: "What the reply is compared with; an empty one is the same as none.",
  }),
  reference_replies: z.array(z.string()).max(MOST_REFERENCES).optional().meta({
    description: "Further references: the one that is nearest to the reply counts.",
  }),
  interaction_type: z.string().default("opening").meta({ description: "Any text." }),
  reference_metadata: Metadata.default({}).meta({
    description: "The labels that the reply should have, such as an `intent`.",
  }),
  generated_metadata: Metadata.default({}).meta({ description: "Filled in by the service." }),
  checks: Checks.optional().meta({ description: "Expectations that the reply meets or not." }),
  reference_tools: ReferenceTools.optional().meta({
    description: "The tool calls that the reply should come with; `[]`: none.",
  }),
  tools_mode: ToolsMode.optional().meta({
    description: "How the calls must fit; `exact` if unset.",
  }),
};
export const Interaction = z.looseObject(interaction)
  .superRefine(refuseMisspelt(Object.keys(interaction)))
  .superRefine(({ user_message, user_parts }, { addIssue }) => {
    if (!user_parts || user_message === textOfParts(user_parts)) return;
    addIssue({ code: "custom", path: ["user_message"], message: "must be the text of user_parts" });
  }).meta({ id: "Interaction" });
export type Interaction = z.infer<typeof Interaction>;

/** An interaction as callers may send it. */
const Turn = z.preprocess((turn: z.input<typeof Interaction>) => splitParts(turn), Interaction);

const scenario = {
  id: Id.meta({ description: "Returned as `scenario_id`." }),
  interactions: z.array(Turn).min(1).meta({
    description: "The turns, in their order.",
  }),
  description: z.string().default("").meta({ description: "What it is about, to show." }),
  system_prompt: z.string().nullish().meta({
    description:
      "The system message of this conversation, instead of the one in `parameters`; `null` is none.",
  }),
  prior_messages: z.array(PriorMessage).max(MOST_MESSAGES).optional().meta({
    description: "Sent before the first turn and not scored, such as few-shot examples.",
  }),
  checks: Checks.optional().meta({ description: "For every turn, beside its own." }),
  conversation_checks: Checks.optional().meta({
    description: "For all replies of a conversation together.",
  }),
};

/** A test conversation. */
export const Scenario = z.looseObject(scenario)
  .superRefine(refuseMisspelt(Object.keys(scenario))).meta({ id: "Scenario" });
export type Scenario = z.infer<typeof Scenario>;

/**
 * The system prompt of a scenario; empty if it has none. In datasets that were stored before the
 * field had a meaning, it may have any type.
 */
export function systemPromptOf({ system_prompt }: Pick<Scenario, "system_prompt">): string {
  return typeof system_prompt === "string" ? system_prompt : "";
}

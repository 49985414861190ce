import { z } from "zod";
import { Checks } from "./checks.ts";
import { ReferenceTools, ToolsMode } from "./tools.ts";

const LONGEST_ID = 256;

/** Ids are part of logs, lists, file names and statistics: they are names, not texts. */
export const Id = z.string().max(LONGEST_ID);

const Metadata = z.record(z.string(), z.unknown()).meta({ id: "Metadata" });
export type Metadata = z.infer<typeof Metadata>;

/**
 * One turn of a test conversation. Unknown fields are kept and returned.
 * `reference_reply` has no default here: a turn without a reference is not scored against an empty
 * one. `""` is none, too; the answer has it in its place.
 */
export const Interaction = z.looseObject({
  id: Id,
  user_message: z.string(),
  agent_reply: z.string().default(""),
  reference_reply: z.string().optional(),
  interaction_type: z.string().default("opening"),
  reference_metadata: Metadata.default({}),
  generated_metadata: Metadata.default({}),
  checks: Checks.optional(),
  /** The tool calls that the reply should come with; `[]`: none. */
  reference_tools: ReferenceTools.optional(),
  /** `exact` if unset. */
  tools_mode: ToolsMode.optional(),
}).meta({ id: "Interaction" });
export type Interaction = z.infer<typeof Interaction>;

/** A test conversation. */
export const Scenario = z.looseObject({
  id: Id,
  interactions: z.array(Interaction).min(1),
  description: z.string().default(""),
  /** For every turn, beside its own. */
  checks: Checks.optional(),
  /** For all replies of a conversation together. */
  conversation_checks: Checks.optional(),
}).meta({ id: "Scenario" });
export type Scenario = z.infer<typeof Scenario>;

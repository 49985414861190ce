import { z } from "zod";

const MOST_TOOLS = 100;
const LONGEST_NAME = 256;
const LONGEST_PATTERN = 1_000;

export const ReferenceTool = z.strictObject({
  name: z.string().min(1).max(LONGEST_NAME).meta({ description: "The tool that is called." }),
  args: z.record(z.string(), z.unknown()).optional().meta({
    description: 'Its arguments; any if unset. One may be `{"$regex": "…"}`, or `{"$any": true}` ' +
      "if it only has to be there.",
  }),
}).meta({ id: "ReferenceTool", description: "A tool call that is expected." });
export type ReferenceTool = z.infer<typeof ReferenceTool>;

export const ReferenceTools = z.array(ReferenceTool).max(MOST_TOOLS);

/** How the calls must fit those expected. */
export const ToolsMode = z.enum(["exact", "any_order", "subset", "superset"]).meta({
  id: "ToolsMode",
  description: "The same calls in the same order (`exact`), the same in any order, no others " +
    "(`subset`), or at least these (`superset`).",
});
export type ToolsMode = z.infer<typeof ToolsMode>;

/** `{"$regex": pattern}` in place of an argument's value. */
export const ArgumentPattern = z.strictObject({ $regex: z.string().max(LONGEST_PATTERN) });

/** `{"$any": true}` in place of an argument's value. */
export const AnyArgument = z.strictObject({ $any: z.literal(true) });

/** A tool call that the endpoint made. */
export const ObservedToolCall = z.object({
  name: z.string(),
  /** The text of the model if it is not a JSON object. */
  args: z.union([z.record(z.string(), z.unknown()), z.string()]),
  /** `null` if the endpoint does not execute or report the call. */
  status: z.enum(["ok", "error"]).nullable(),
  ms: z.number().nullable(),
}).meta({ id: "ObservedToolCall" });
export type ObservedToolCall = z.infer<typeof ObservedToolCall>;

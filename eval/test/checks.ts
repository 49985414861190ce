import { z } from "zod";
import { Check } from "./check_kinds.ts";

/** The most checks of one turn, including those of its scenario. */
export const MAX_CHECKS = 200;

/** In characters of JSON text: of one schema, and of all schemas in one list of checks. */
const LARGEST_SCHEMA = 64_000;
const LARGEST_SCHEMAS = 256_000;

export const Checks = z.array(Check).max(MAX_CHECKS).superRefine(boundSchemas);

/** Limits the size of schemas, as each is copied to a worker for every reply and compiled there. */
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

/** The result of one check. `value` is `null` if it could not be decided; `reason` says why. */
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

/** How often a check was met over the turns of a run. */
export const CheckCount = z.object({
  name: z.string(),
  type: z.string(),
  required: z.boolean(),
  passed: z.number(),
  failed: z.number(),
  /** Undecided, because the judge, the embeddings or the check itself failed. */
  missing: z.number(),
}).meta({ id: "CheckCount" });
export type CheckCount = z.infer<typeof CheckCount>;

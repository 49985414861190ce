import { shorten } from "../../../shared/shorten.ts";
import type { InteractionResult } from "../../schemas/interaction_result.ts";

/** Of a check's reason. */
const SHOWN_CHARACTERS = 2000;

/** The checks that a turn does not meet, each with its reason; the required ones first. */
export function describeFailedChecks({ check_results = [] }: InteractionResult): string[] {
  return check_results.filter(({ value }) => value === 0)
    .toSorted((a, b) => Number(b.required) - Number(a.required))
    .map(({ name, reason, required }) =>
      `failed check: ${name}${required ? " (required)" : ""}: ${
        shorten(reason ?? "", SHOWN_CHARACTERS, "…")
      }`
    );
}

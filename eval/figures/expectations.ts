import { type Check, CHECK_DEFAULTS } from "../test/check_kinds.ts";
import { referencesOf } from "../score/references.ts";
import { labelKey } from "../test/labels.ts";
import type { Interaction, Scenario } from "../test/scenario.ts";
import { checksOf } from "../score/planned_checks.ts";
import { isSame } from "../score/same_args.ts";
import { HEADLINE } from "./passing.ts";

/** The fields of a scenario that comparing reads. */
export type PlannedScenario =
  & Pick<
    Scenario,
    "id" | "system_prompt" | "prior_messages" | "checks" | "conversation_checks"
  >
  & {
    interactions: Pick<
      Interaction,
      | "id"
      | "user_message"
      | "reference_reply"
      | "reference_replies"
      | "reference_metadata"
      | "checks"
      | "reference_tools"
      | "tools_mode"
    >[];
  };

/** A turn of a batch: its scenario, and its position there, counted from 0. */
interface PlannedTurn {
  scenario: PlannedScenario;
  turn: number;
}

/** Built-in scores that have the name of the match of a metadata key. */
export const NO_KEY_MATCH: ReadonlySet<string> = new Set(["exact_match", "metadata_match"]);

/** Scores of the tool calls. */
const TOOL_SCORES: ReadonlySet<string> = new Set(["tool_f1", "tool_args", "tool_order", "tools"]);

/**
 * Returns a function for the scores of a turn that are measured against different expectations in
 * the two runs. `undefined` if both runs expect the same.
 */
export function compareExpectations(
  baseline: PlannedTurn,
  candidate: PlannedTurn,
): ((score: string) => boolean) | undefined {
  if (baseline.scenario === candidate.scenario && baseline.turn === candidate.turn) return;
  const before = expectationsOf(baseline);
  const after = expectationsOf(candidate);
  const isOther = {
    reference: before.reference !== after.reference,
    checks: !isSame(before.checks, after.checks),
    tools: !isSame(before.tools, after.tools),
  };
  const matches = new Set([...before.labels.keys(), ...after.labels.keys()]);
  const otherMatches = new Set(
    [...matches].filter((name) => before.labels.get(name) !== after.labels.get(name)),
  );
  if (!Object.values(isOther).includes(true) && otherMatches.size === 0) return;
  return (score) => {
    if (score === HEADLINE) return false; // its parts decide
    if (score === "checks") return isOther.checks;
    if (TOOL_SCORES.has(score)) return isOther.tools;
    if (score === "metadata_match") return otherMatches.size > 0;
    const isMatch = matches.has(score) && !NO_KEY_MATCH.has(score);
    return isMatch ? otherMatches.has(score) : isOther.reference;
  };
}

function expectationsOf({ scenario, turn }: PlannedTurn) {
  const interaction = scenario.interactions[turn]!;
  const { reference_metadata, reference_tools, tools_mode } = interaction;
  const reference = referencesOf(interaction).join("\n\n");
  return {
    reference,
    checks: checksOf(scenario, turn).map(({ check, isAboutConversation }) => ({
      ...definitionOf(check),
      isAboutConversation,
      ...(isAboutReference(check) && { reference }),
    })),
    // In runs stored before these fields existed, they may be fields of the caller.
    tools: Array.isArray(reference_tools) ? [tools_mode ?? "exact", reference_tools] : null,
    labels: new Map(
      Object.entries(reference_metadata ?? {})
        .map(([key, label]) => [`${key}_match`, labelKey(label)]),
    ),
  };
}

/** The fields that decide a check: all but its name, without defaults. */
function definitionOf(check: Check): Record<string, unknown> {
  const defaults: Record<string, unknown> = CHECK_DEFAULTS;
  const fields = Object.entries(check ?? {});
  return Object.fromEntries(
    fields.filter(([name, value]) => name !== "name" && value !== defaults[name]),
  );
}

function isAboutReference(check: Check): boolean {
  return check?.type === "similar" && check.value === undefined;
}

import type { Check } from "../../schemas/check_kinds.ts";
import type { Interaction, Scenario } from "../../schemas/scenario.ts";

/** A check of a turn, and its position in the scenario. */
export interface PlannedCheck {
  check: Check;
  /** Whether it is about all replies of the conversation; such checks belong to the last turn. */
  isAboutConversation: boolean;
  /** Relative to the scenario: `checks.0`, `interactions.2.checks.1`. */
  path: string;
}

/** The parts of a scenario that have checks. */
type CheckedScenario = Pick<Scenario, "checks" | "conversation_checks"> & {
  interactions: Pick<Interaction, "checks">[];
};

/** A turn's own checks, its scenario's and, for the last turn, the conversation's. */
export function checksOf(scenario: CheckedScenario, turn: number): PlannedCheck[] {
  const { interactions, checks, conversation_checks } = scenario;
  const own = interactions[turn]?.checks;
  const isLast = turn === interactions.length - 1;
  // In runs stored before checks existed, these may be fields of the caller.
  const plan = (list: Check[] | undefined, path: string, isAboutConversation = false) =>
    (Array.isArray(list) ? list : []).map((check, index): PlannedCheck => ({
      check,
      isAboutConversation,
      path: `${path}.${index}`,
    }));
  return [
    ...plan(own, `interactions.${turn}.checks`),
    ...plan(checks, "checks"),
    ...(isLast ? plan(conversation_checks, "conversation_checks", true) : []),
  ];
}

/** Whether a scenario has any check. */
export function hasChecks({ interactions, checks, conversation_checks }: Scenario): boolean {
  return Boolean(checks?.length || conversation_checks?.length) ||
    interactions.some((interaction) => interaction.checks?.length);
}

/** The checks of every turn of a batch that has some. */
export function planChecks(scenarios: Scenario[]): Map<Interaction, PlannedCheck[]> {
  const plans = new Map<Interaction, PlannedCheck[]>();
  for (const scenario of scenarios) {
    if (!hasChecks(scenario)) continue;
    for (const [turn, interaction] of scenario.interactions.entries()) {
      const planned = checksOf(scenario, turn);
      if (planned.length > 0) plans.set(interaction, planned);
    }
  }
  return plans;
}

/** Whether a turn has expected tool calls; `[]` expects that there are none. */
export function expectsTools({ reference_tools }: Interaction): boolean {
  return Array.isArray(reference_tools);
}

import type { Check } from "../test/check_kinds.ts";
import type { Interaction, Scenario } from "../test/scenario.ts";
import { AppError, type FieldError } from "../../shared/service/errors.ts";
import { MAX_CHECKS } from "../test/checks.ts";
import { batchPath } from "../test/evaluate_request.ts";
import { referenceOf } from "./references.ts";
import { patternsIn } from "./same_args.ts";
import { createYielder } from "../../shared/service/waiting.ts";
import type { CompiledCheck, ContentChecks } from "./content_checks.ts";

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

function hasChecks({ interactions, checks, conversation_checks }: Scenario): boolean {
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

/** Only the first errors are listed, so that the answer stays small. */
const MOST_ERRORS = 100;

interface CheckPorts {
  checks: ContentChecks;
  hasJudge: boolean;
}

/**
 * Throws 400 with the path of every check that could never be decided: an invalid pattern (also of
 * an expected tool call) or schema, a `judge` without a judge, a `similar` without a text, or more
 * checks than a turn may have.
 */
export async function requireUsableChecks(
  scenarios: Scenario[],
  ports: CheckPorts,
): Promise<void> {
  const errors = await findUnusableChecks(scenarios, {
    ...ports,
    pathOf: (index) => batchPath(scenarios, index),
  });
  if (errors.length > 0) refuse(errors);
}

/** The same errors without throwing; `pathOf` gives the path of a scenario. */
export async function findUnusableChecks(
  scenarios: Scenario[],
  { pathOf, ...ports }: CheckPorts & { pathOf: (index: number) => string },
): Promise<FieldError[]> {
  const errors: FieldError[] = [];
  const compiled = new Map<string, { check: CompiledCheck; paths: string[] }>();
  const yieldIfDue = createYielder();
  for (const [index, scenario] of scenarios.entries()) {
    const at = pathOf(index);
    await gatherPatterns(scenario, at);
    if (!hasChecks(scenario)) continue;
    // A scenario's check applies to each of its turns, but is inspected and reported once.
    const gathered = new Set<Check>();
    const refused = new Set<Check>();
    for (const [turn, interaction] of scenario.interactions.entries()) {
      await yieldIfDue(); // the batch may have megabytes of schemas
      const planned = checksOf(scenario, turn);
      if (planned.length > MAX_CHECKS) {
        errors.push({
          path: `${at}.interactions.${turn}`,
          message: `has ${planned.length} checks, its scenario's included; ${MAX_CHECKS} at most`,
        });
      }
      for (const one of planned) {
        const path = `${at}.${one.path}`;
        if (!gathered.has(one.check)) {
          gathered.add(one.check);
          if (isCompiled(one.check)) gather(one.check, `${path}.value`);
        }
        const message = faultOf(one, { reference: referenceOf(interaction), turn, ports });
        if (message === undefined || refused.has(one.check)) continue;
        refused.add(one.check);
        errors.push({ path, message });
      }
    }
  }
  errors.push(...await inspectAll());
  return errors.slice(0, MOST_ERRORS);

  /** Equal patterns are inspected once. */
  function gather(check: CompiledCheck, path: string): void {
    const key = JSON.stringify([check.type, check.value]);
    const known = compiled.get(key);
    if (!known) compiled.set(key, { check, paths: [path] });
    else if (known.paths.length < MOST_ERRORS) known.paths.push(path);
  }

  /** Patterns for the arguments of expected tool calls. */
  async function gatherPatterns({ interactions }: Scenario, at: string): Promise<void> {
    for (const [turn, { reference_tools }] of interactions.entries()) {
      await yieldIfDue();
      for (const [index, { args = {} }] of (reference_tools ?? []).entries()) {
        const start = `${at}.interactions.${turn}.reference_tools.${index}.args`;
        for (const { pattern, path } of patternsIn(args, start)) {
          gather({ type: "regex", value: pattern }, path);
        }
      }
    }
  }

  async function inspectAll(): Promise<FieldError[]> {
    const found = [...compiled.values()];
    if (found.length === 0) return [];
    const faults = await ports.checks.inspect(found.map(({ check }) => check));
    return found.flatMap(({ check, paths }, index) => {
      const fault = faults[index];
      if (!fault) return [];
      const what = check.type === "regex" ? "pattern" : "JSON Schema";
      const message = `is not a usable ${what}: ${fault}`;
      return paths.map((path) => ({ path, message }));
    });
  }
}

function isCompiled(check: Check): check is CompiledCheck {
  return check.type === "regex" || check.type === "json";
}

function faultOf(
  { check, isAboutConversation }: PlannedCheck,
  { reference, turn, ports }: { reference: string | undefined; turn: number; ports: CheckPorts },
): string | undefined {
  if (check.type === "judge" && !ports.hasJudge) {
    return "needs a judge, and none is configured: set JUDGE_BASE_URL and JUDGE_MODEL";
  }
  if (check.type !== "similar" || check.value !== undefined) return undefined;
  if (isAboutConversation) return "needs a value: a conversation has no reference";
  if (reference !== undefined) return undefined;
  return `needs a value: interaction ${turn} has no reference_reply`;
}

function refuse(errors: FieldError[]): never {
  const [first] = errors;
  throw new AppError(
    400,
    "invalid_request",
    `cannot use the checks: ${first!.path} ${first!.message}`,
    { errors },
  );
}

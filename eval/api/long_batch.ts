import { type Fields, isFields } from "../../shared/fields.ts";
import { z } from "zod";
import { checkBody, invalidBody } from "../../shared/http/body/body.ts";
import type { EvaluateRequest } from "../schemas/evaluate_request.ts";
import { Interaction, Scenario } from "../../shared/schemas/scenario.ts";
import { createYielder } from "../../shared/yielder.ts";

type Issue = z.core.$ZodIssue;

/** Validates like any other turn, or scenario. */
const STAND_IN_TURN = { id: "", user_message: "" };
const STAND_IN = { id: "", interactions: [STAND_IN_TURN] };

/** Enough for the answer, which lists the first ones. */
const MOST_ISSUES = 100;

/**
 * As `checkBody` with the schema of `POST /evaluate`, but turn by turn: the event loop runs in
 * between, however many checks a caller sends.
 */
export async function checkLongBatch(
  value: unknown,
  schema: z.ZodType<EvaluateRequest>,
): Promise<EvaluateRequest> {
  const batch = isFields(value) ? value.test_batch : undefined;
  if (!isFields(value) || typeof batch !== "object" || batch === null) {
    return checkBody(value, schema);
  }
  const issues: Issue[] = [];
  const yieldIfDue = createYielder();
  const scenarios: Scenario[] = [];
  const listed = Array.isArray(batch) ? batch : [batch];
  for (const [index, scenario] of listed.entries()) {
    const path = Array.isArray(batch) ? ["test_batch", index] : ["test_batch"];
    const checked = await checkScenario(scenario, path);
    if (checked) scenarios.push(checked);
    if (issues.length >= MOST_ISSUES) break;
  }
  // The other fields, and how the batch is written.
  const standIns = listed.length === 0 ? [] : [STAND_IN];
  const whole = schema.safeParse({
    ...value,
    test_batch: Array.isArray(batch) ? standIns : STAND_IN,
  });
  if (!whole.success) issues.unshift(...whole.error.issues);
  if (issues.length > 0 || !whole.success) throw invalidBody(new z.ZodError(issues), value);
  const { test_batch } = whole.data; // the list that knows how it was written
  test_batch.length = 0;
  for (const scenario of scenarios) test_batch.push(scenario);
  return whole.data;

  async function checkScenario(
    scenario: unknown,
    path: PropertyKey[],
  ): Promise<Scenario | undefined> {
    await yieldIfDue();
    const turns = isFields(scenario) && Array.isArray(scenario.interactions)
      ? scenario.interactions
      : [];
    if (turns.length === 0) return check(Scenario, scenario, path);
    const checked = check(Scenario, { ...scenario as Fields, interactions: [STAND_IN_TURN] }, path);
    const interactions: Interaction[] = [];
    for (const [index, turn] of turns.entries()) {
      await yieldIfDue();
      const interaction = check(Interaction, turn, [...path, "interactions", index]);
      if (interaction) interactions.push(interaction);
      if (issues.length >= MOST_ISSUES) return undefined;
    }
    return checked && { ...checked, interactions };
  }

  function check<T extends z.ZodType>(
    schema: T,
    value: unknown,
    path: PropertyKey[],
  ): z.output<T> | undefined {
    const result = schema.safeParse(value);
    if (result.success) return result.data;
    for (const issue of result.error.issues) {
      issues.push({ ...issue, path: [...path, ...issue.path] });
    }
    return undefined;
  }
}

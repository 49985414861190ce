import { z } from "zod";
import { checkBody } from "../../shared/http/body.ts";
import { invalidField } from "../../shared/service/errors.ts";
import { momentOf } from "../store/run_record.ts";
import type { NewRun } from "../store/store.ts";
import type { StoredTurn } from "../store/turn_record.ts";
import type { EvaluateRequest } from "../test/evaluate_request.ts";
import { InteractionResult } from "../test/interaction_result.ts";

/** What is read of a written result; the rest of it is computed from this. */
function writtenResult<Interaction extends z.ZodType>(interaction: Interaction) {
  return z.looseObject({
    run_id: z.string().regex(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f-]{21}$/, "must be that of a run"),
    test_name: z.string(),
    endpoint: z.string().nullable(),
    model_id: z.string(),
    results: z.object({
      scenarios: z.array(z.looseObject({
        scenario_id: z.string(),
        description: z.string().default(""),
        attempts: z.array(z.object({
          attempt_id: z.int(),
          interactions: z.array(interaction).min(1),
        })).min(1).refine((list) => list.every(({ attempt_id }, at) => attempt_id === at + 1), {
          error: "must have attempt_id 1, 2, and so on",
        }),
      })),
    }),
  });
}

const ReadResult = writtenResult(InteractionResult);

/** As described: `InteractionResult` as a body would change the type that clients have of answers. */
export const WrittenResult = writtenResult(z.looseObject({})).meta({
  id: "WrittenResult",
  description: "The answer of `POST /evaluate`, as exports have it.",
});

/** The run of a written result, as it was stored. Throws 400 for another value. */
export function readResult(value: unknown): NewRun {
  const { run_id: id, results: { scenarios }, ...heading } = checkBody(value, ReadResult);
  if (momentOf(id) > Date.now()) throw invalidField("run_id", "must not be in the future");
  const turns = scenarios.flatMap(({ attempts }, scenario) =>
    attempts.flatMap(({ attempt_id, interactions }) =>
      interactions.map((result, turn): StoredTurn => ({
        scenario,
        attempt: attempt_id - 1,
        turn,
        result,
        tookMs: 0,
      }))
    )
  );
  // As it was stored: a field that was the caller's own then may have a meaning by now.
  const request: EvaluateRequest = {
    ...heading,
    endpoint: heading.endpoint ?? undefined,
    attempts: Math.max(1, ...scenarios.map(({ attempts }) => attempts.length)),
    parameters: {},
    test_batch: scenarios.map(({ scenario_id: id, attempts, ...own }) => ({
      ...own,
      id,
      interactions: attempts.map(({ interactions }) => interactions)
        .reduce((most, list) => list.length > most.length ? list : most, []),
    })),
  };
  return { request, testName: heading.test_name, written: { id, turns } };
}

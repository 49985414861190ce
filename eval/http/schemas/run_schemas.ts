import { z } from "zod";
import { EvaluateAnswer } from "../../test/evaluate_response.ts";
import { Checks } from "../../test/checks.ts";
import { RunHeadline } from "../../figures/run_summary.ts";
import { Budget } from "../../test/evaluate_request.ts";
import { Run, RunStatus } from "../../run/view.ts";
import { TAG } from "../../store/run_record.ts";

export type { Run };

/** `headline` is `null` while the run is running, and for a moment after. */
export const ListedRun = Run.extend({ headline: RunHeadline.nullable() }).meta({ id: "ListedRun" });
export type ListedRun = z.infer<typeof ListedRun>;

/** The answer of `GET /runs`. */
export const RunList = z.object({ runs: z.array(ListedRun), next_cursor: z.string().nullable() })
  .meta({ id: "RunList" });
export type RunList = z.infer<typeof RunList>;

/** The answer of `GET /runs/{id}`. */
export const RunWithResult = Run.extend({
  result: EvaluateAnswer.optional().meta({ description: "Only if the run is completed." }),
}).meta({ id: "RunWithResult" });

/** The answer of `GET /runs/{id}/request`. */
export const RunRequest = z.looseObject({
  test_name: z.string(),
  endpoint: z.string().optional().meta({
    description: "Unset if the replies existed before the run; they are in `replies`.",
  }),
  model_id: z.string(),
  attempts: z.int(),
}).meta({ id: "RunRequest" });

/** A run that was started or ended by the request. */
export const RunState = z.object({ run_id: z.string(), status: RunStatus })
  .meta({ id: "RunState" });

/** The answer of `POST /runs/{id}/retry` and `POST /runs/{id}/rescore`. */
export const RetriedRun = RunState.extend({ parent_id: z.string() }).meta({ id: "RetriedRun" });

/** The body of `POST /runs/{id}/rescore`. What is unset stays as it is. */
export const RescoreRequest = z.strictObject({
  rubric: z.string().trim().min(1).optional().meta({ description: "Instructions for the judge." }),
  judge: z.string().trim().min(1).optional().meta({
    description: "The model that judges, at `JUDGE_BASE_URL`.",
  }),
  judge_votes: z.int().min(1).max(9).optional().meta({
    description: "How often the judge is asked for each turn.",
  }),
  checks: Checks.optional().meta({
    description: "For every turn, instead of the `checks` of the scenarios; `[]`: none. Those of " +
      "turns and conversations stay.",
  }),
}).meta({ id: "RescoreRequest" });
export type RescoreRequest = z.infer<typeof RescoreRequest>;

/** The header that says where a run is. */
export const RunLocation = z.string().meta({
  description: "The run: `/runs/{id}`; or those of several models: `/compare?group={id}`.",
});

/** What a run that goes on may spend, instead of what its request says. */
export const BudgetInput = z.strictObject({ budget: Budget.optional() }).meta({
  id: "BudgetInput",
});

/** The body of `PATCH /runs/{id}`. */
export const RunChange = z.object({
  test_name: z.string().max(1_000).optional(),
  tags: z.array(z.string().regex(TAG, "must have 1 to 100 letters, digits, or . _ / -")).max(20)
    .optional().meta({ description: "All of them. One that names another run no longer does." }),
}).meta({ id: "RunChange" });

/** What the events of a run are. */
export const RUN_EVENTS = "`progress`, and `turn` with each turn that is finished; then `result` " +
  "with the result, `ended` if there is none, or `stopping` if the service stops: reconnect then.";

/** What the events of a group are. */
export const GROUP_EVENTS = "`progress` with the progress of each model; then `result` with the " +
  "answer of `GET /compare?group={id}`, `ended` if no run has completed, or `stopping` if the " +
  "service stops: reconnect then.";

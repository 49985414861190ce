import { z } from "zod";
import { EvaluateAnswer } from "../../schemas/evaluate_response.ts";
import { RunHeadline } from "../../results/run_summary.ts";
import { RunProgress } from "../../run/events/run_progress.ts";
import { TAG } from "../../store/runs/run_tags.ts";
import { RUN_STATUSES } from "../../store/runs/run_record.ts";

export const RunStatus = z.enum(RUN_STATUSES).meta({ id: "RunStatus" });

/** A run as lists show it. */
export const Run = z.looseObject({
  run_id: z.string(),
  parent_id: z.string().nullable(),
  status: RunStatus,
  detail: z.string().nullable(),
  test_name: z.string(),
  model_id: z.string(),
  endpoint: z.string(),
  attempts: z.int(),
  /** `name@version`, if the run named a dataset. */
  dataset: z.string().optional(),
  tags: z.array(z.string()).optional().meta({ description: "Names that people gave it." }),
  created_at: z.string(),
  finished_at: z.string().nullable(),
  progress: RunProgress,
  group_id: z.string().optional().meta({ description: "If the request named several models." }),
  name: z.string().optional().meta({ description: "What the group calls the model." }),
}).meta({ id: "Run" });
export type Run = z.infer<typeof Run>;

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
  endpoint: z.string(),
  model_id: z.string(),
  attempts: z.int(),
}).meta({ id: "RunRequest" });

/** A run that was started or ended by the request. */
export const RunState = z.object({ run_id: z.string(), status: RunStatus })
  .meta({ id: "RunState" });

/** The answer of `POST /runs/{id}/retry`. */
export const RetriedRun = RunState.extend({ parent_id: z.string() }).meta({ id: "RetriedRun" });

/** The header that says where a run is. */
export const RunLocation = z.string().meta({
  description: "The run: `/runs/{id}`; or the group: `/groups/{id}`.",
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

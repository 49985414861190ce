import { z } from "zod";
import { CostSum } from "../schemas/cost.ts";
import { RunPassRates, Statistic } from "../schemas/statistics.ts";
import { Method, ScoreComparison, ScoreVerdict } from "../compare/comparison.ts";
import { RunSummary } from "../results/run_summary.ts";
import { knownMean, RunProgress } from "../run/manager/active_run.ts";
import { RUN_STATUSES, type RunStatus } from "../store/runs/run_record.ts";
import { mean } from "../assess/mean.ts";
import type { Run } from "../run/events/view.ts";

const Status = z.enum(RUN_STATUSES);

/** The progress of a run, or of all runs of a group together. */
const Progress = RunProgress.meta({ id: "GroupProgress" });

/** One model of a group: its run and its results. */
export const GroupModel = z.object({
  run_id: z.string(),
  /** Different for each model of the group. */
  name: z.string(),
  model_id: z.string(),
  endpoint: z.string(),
  status: Status,
  detail: z.string().nullable(),
  progress: Progress,
  /** Means over scenarios with their intervals; `null` until the run has ended. */
  scores: z.record(z.string(), Statistic).nullable(),
  pass_rate: RunPassRates.shape.pass_rate,
  /** Counts by outcome; `null` until the run has ended. */
  scenarios: RunSummary.shape.scenarios.nullable(),
  /** Includes the runs that this one retries, as the costs do. */
  usage: RunSummary.shape.usage.nullable(),
  latency_ms: RunSummary.shape.latency_ms,
  /** Why calls failed, and why scores are missing; empty until the run has ended. */
  errors: RunSummary.shape.errors,
  missing_scores: RunSummary.shape.missing_scores,
  /** Of the endpoint's calls, and of the judge's; absent if `PRICES` was not set. */
  cost: CostSum.optional(),
  judge_cost: CostSum.optional(),
}).meta({ id: "GroupModel" });
export type GroupModel = z.infer<typeof GroupModel>;

/** Two models; the baseline is the earlier one in the list. */
export const GroupPair = z.object({
  /** Names of models. */
  baseline: z.string(),
  candidate: z.string(),
  /** The name of the model that was shown to be better; `null` if neither was. */
  better: z.string().nullable(),
  ...ScoreVerdict.shape,
  /** By the deciding score; empty if it was not compared. Corrected for the pairs (Holm). */
  scores: z.record(z.string(), ScoreComparison),
}).meta({ id: "GroupPair" });
export type GroupPair = z.infer<typeof GroupPair>;

/** All models of a group: the answer of `GET /groups/{id}`. */
export const GroupReport = z.object({
  message: z.string(),
  group_id: z.string(),
  /** `running` while any run is; `completed` if all are. */
  status: Status,
  test_name: z.string(),
  attempts: z.int(),
  /** `name@version`, if the request named a dataset. */
  dataset: z.string().optional(),
  created_at: z.string(),
  /** When the last run ended; `null` before. */
  finished_at: z.string().nullable(),
  progress: Progress,
  /** The sums of the models' costs, of runs that have ended. */
  cost: CostSum.optional(),
  judge_cost: CostSum.optional(),
  /** In the order of the request. */
  models: z.array(GroupModel),
  /** Each completed model against each other one; `null` while a run is running. */
  pairs: z.array(GroupPair).nullable(),
  /** Names of the completed models that no other one is shown to beat; `null` likewise. */
  best: z.array(z.string()).nullable(),
  /** The deciding score, and the number of tests that its verdicts are corrected for. */
  decided_by: z.string().nullable(),
  tests: z.int().nullable(),
  /** With `detail=full`. */
  method: Method.nullable().optional(),
}).meta({ id: "GroupReport" });
export type GroupReport = z.infer<typeof GroupReport>;

/** A group in lists. */
export const ListedGroup = GroupReport.pick({
  group_id: true,
  status: true,
  test_name: true,
  attempts: true,
  dataset: true,
  created_at: true,
  finished_at: true,
  progress: true,
}).extend({
  models: z.array(
    GroupModel.pick({ run_id: true, name: true, status: true, progress: true }).extend({
      overall: Statistic.pick({ mean: true, bounds: true }).nullable().optional().meta({
        description:
          "Only in `GET /groups`: the mean over scenarios; `null` until its summary is computed.",
      }),
    }).meta({ id: "ListedGroupModel" }),
  ),
}).meta({ id: "ListedGroup" });
export type ListedGroup = z.infer<typeof ListedGroup>;

/** The group has the first of these statuses that one of its runs has. */
const NOT_COMPLETED = ["running", "failed", "interrupted", "cancelled"] as const;

function groupStatus(runs: { status: RunStatus }[]): RunStatus {
  return NOT_COMPLETED.find((status) => runs.some((run) => run.status === status)) ?? "completed";
}

/** The progress of all runs. They run concurrently, so the group ends with the last one. */
export function groupProgress(all: RunProgress[]): RunProgress {
  const sum = (of: (progress: RunProgress) => number) =>
    all.reduce((total, progress) => total + of(progress), 0);
  const means = all.map(({ mean }) => mean).filter((value) => value !== null);
  const missing = sum((progress) => progress.missing);
  const etas = all.map(({ eta_ms }) => eta_ms);
  return {
    done: sum(({ done }) => done),
    failed: sum(({ failed }) => failed),
    missing,
    total: sum(({ total }) => total),
    mean: knownMean({ missing, mean: mean(means) }),
    eta_ms: etas.includes(null) ? null : Math.max(...etas as number[]),
  };
}

/** A group from the views of its runs; there must be at least one. */
export function listGroup(id: string, views: Run[]): ListedGroup {
  const [first] = views;
  const ends = views.map(({ finished_at }) => finished_at);
  return {
    group_id: id,
    status: groupStatus(views),
    test_name: first!.test_name,
    attempts: first!.attempts,
    ...(first!.dataset !== undefined && { dataset: first!.dataset }),
    created_at: views.map(({ created_at }) => created_at).sort()[0]!,
    finished_at: ends.includes(null) ? null : ends.sort().at(-1)!,
    progress: groupProgress(views.map(({ progress }) => progress)),
    models: views.map(({ run_id, name, model_id, status, progress }) => ({
      run_id,
      name: name ?? model_id,
      status,
      progress,
    })),
  };
}

/** A group in the answer to a command such as cancelling it. */
export function stateOf({ group_id, status, models }: ListedGroup) {
  const runs = models.map(({ run_id, name, status }) => ({ run_id, name, status }));
  return { group_id, status, models: runs };
}

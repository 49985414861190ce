import { mean } from "../assess/mean.ts";
import { knownMean, type RunProgress } from "../run/manager/active_run.ts";
import type { Run } from "../run/events/view.ts";
import type { RunStatus } from "../store/runs/run_record.ts";
import type { ListedGroup } from "./group_report.ts";

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

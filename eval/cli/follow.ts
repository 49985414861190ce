import { printable } from "../report/text/text_form.ts";
import type { GateAnswer } from "../report/gate.ts";
import type { RunProgress } from "../run/active_run.ts";
import type { Run } from "../run/view.ts";
import type { Api } from "./api.ts";
import { EXIT } from "./command.ts";
import type { CliContext } from "./context.ts";
import type { Criteria } from "./criteria.ts";
import { writeOutputs } from "./outputs.ts";
import { createProgressDisplay } from "./process/progress.ts";

export interface Service {
  api: Api;
  context: CliContext;
}

type RunState = Pick<Run, "run_id" | "name" | "status">;

/** What the service has started: a run, or the runs of a group. */
export type Started = RunState | { group_id: string; runs: RunState[] };

const runsOf = (started: Started) => "runs" in started ? started.runs : [started];

/** Shows the progress of what was started until it ends, or is stopped by Ctrl-C, and its result. */
export async function finish(
  started: Started,
  criteria: Criteria,
  { api, context }: Service,
): Promise<number> {
  const id = "group_id" in started ? started.group_id : started.run_id;
  context.err.write(`${"group_id" in started ? "group" : "run"} ${id}\n`);
  const { ended, progress, isStopped } = await follow(started, { api, context });
  const runs = runsOf(ended);
  const open = runs.filter(({ status }) => status !== "completed");
  if (open.length === 0) return await report(ended, criteria, { api, context });
  let hasFailed = false;
  for (const { run_id, name, status } of open) {
    if (isStopped && status !== "failed") continue;
    hasFailed = true;
    const { detail } = await api.run(run_id);
    context.err.write(`the run${name ? ` of ${name}` : ""} stopped: ${detail ?? status}\n`);
  }
  const state = "group_id" in ended
    ? `${runs.length - open.length} of ${runs.length} models are complete`
    : `${progress?.done} of ${progress?.total} turns are stored`;
  context.err.write(`${state}; continue with: assay-eval resume ${id}\n`);
  return isStopped && (!hasFailed || "group_id" in ended) ? EXIT.interrupted : EXIT.error;
}

/**
 * Follows runs to their end. The first Ctrl-C lets running calls finish, since they are paid for;
 * the second aborts them. Either way, finished turns stay stored.
 */
async function follow(started: Started, { api, context }: Service) {
  const { err } = context;
  const display = createProgressDisplay(err, context.now);
  using interrupts = context.watchInterrupts();
  let told: Promise<unknown> = Promise.resolve();
  const tell = (action: string) => {
    const calls = () =>
      runsOf(started).map(({ run_id }) => api.call(`POST /runs/${run_id}/${action}`));
    return told = told.then(() => Promise.allSettled(calls()));
  };
  onAbort(interrupts.first, async () => {
    await tell("interrupt");
    err.write("\nstopping after the running calls; press Ctrl-C again to stop at once\n");
  });
  onAbort(interrupts.second, () => tell("cancel"));

  let progress: RunProgress | undefined;
  let ended = started;
  const events = "group_id" in started
    ? `/compare?group=${started.group_id}`
    : `/runs/${started.run_id}/events?turns=false`;
  for await (const { event, data } of api.events(`GET ${events}`)) {
    if (event === "progress") {
      progress = "progress" in data ? data.progress : data;
      if ("runs" in data) ended = data;
      display.update(progress!);
    } else if (event === "ended" && !("runs" in data)) ended = data;
  }
  if (progress) display.close(progress);
  return { ended, progress, isStopped: interrupts.first.aborted };
}

function onAbort(signal: AbortSignal, work: () => void): void {
  if (signal.aborted) work();
  else signal.addEventListener("abort", work, { once: true });
}

const CODES: Record<GateAnswer["gate"], number> = {
  passed: EXIT.passed,
  failed: EXIT.notPassed,
  undecided: EXIT.error,
};

/**
 * Reports on runs that are complete, holds each against its gate and writes the files. Returns the
 * exit code, of a group that of its worst model.
 */
export async function report(
  ended: Started,
  criteria: Criteria,
  { api, context }: Service,
): Promise<number> {
  const { threshold, baseline, decide_by, min_difference, ...gate } = criteria.gate;
  const compared = { threshold, decide_by, min_difference };
  const hold = ({ run_id }: RunState) =>
    api.json<GateAnswer>(`POST /runs/${run_id}/gate`, { body: criteria.gate });
  if (!("group_id" in ended)) {
    const { gate: outcome, reason, report } = await hold(ended);
    context.out.write(`${report}\n${reason}\n`);
    await writeOutputs(criteria.outputs, {
      api,
      context,
      path: `/runs/${ended.run_id}/export`,
      query: baseline === undefined ? { threshold } : {
        ...compared,
        baseline,
        new_failures: gate.fail_on_new_failures,
        required: !gate.baseline_optional,
      },
    });
    return CODES[outcome];
  }
  const query = { group: ended.group_id, ...compared };
  const path = "/compare/export";
  for await (const text of api.pieces(`GET ${path}`, { query: { ...query, format: "text" } })) {
    context.out.write(text);
  }
  context.out.write("\n");
  const codes: number[] = [];
  for (const run of ended.runs) {
    const { gate: outcome, reason } = await hold(run);
    context.out.write(`${printable(run.name!)}: ${reason}\n`);
    codes.push(CODES[outcome]);
  }
  await writeOutputs(criteria.outputs, { api, context, path, query });
  return [EXIT.error, EXIT.notPassed].find((code) => codes.includes(code)) ?? EXIT.passed;
}

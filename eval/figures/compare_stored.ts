import { z } from "zod";
import { notFound } from "../../shared/service/errors.ts";
import { mean } from "../score/mean.ts";
import { HEADLINE } from "./passing.ts";
import { type Detail, inDetail } from "./detail.ts";
import { RunSummary, type RunSummary as Summary } from "./run_summary.ts";
import { describeCompletion } from "./summary/summary.ts";
import { addCosts } from "./summary/turn_counts.ts";
import { Run, RunStatus } from "../run/view.ts";
import { RunProgress } from "../run/active_run.ts";
import { CostSum } from "../test/cost.ts";
import type { EvaluateRequest } from "../test/evaluate_request.ts";
import { ScoredBy } from "../test/evaluate_response.ts";
import { Statistic } from "../test/statistics.ts";
import type { RunRecord } from "../store/run_record.ts";
import type { RunReader } from "../store/store.ts";
import { requireRecord, requireRun } from "../store/require_run.ts";
import { turnsSoFar } from "../store/whole_reader.ts";
import { type CompareOptions, compareRuns, type NamedRun } from "./compare.ts";
import { ComparedPair, Verdicts, withoutDetail } from "./comparison.ts";
import { describeMeasureChange, MeasureChange, measureSentences } from "./measure.ts";
import type { ComparableRun } from "./compare/paired_runs.ts";

/** A run in a comparison, with its figures. */
export const ComparedRun = Run.extend({
  name: z.string().meta({ description: "The model; different for each run of the comparison." }),
  /** Means over scenarios with their intervals; `null` until the run has ended, as the others. */
  scores: z.record(z.string(), Statistic).nullable(),
  pass_rate: RunSummary.shape.pass_rate,
  /** Counts by outcome. */
  scenarios: RunSummary.shape.scenarios.nullable(),
  /** Replies that end at the token limit. */
  truncated: z.number(),
  /** Includes the runs that this one retries, as the costs do. */
  usage: RunSummary.shape.usage.nullable(),
  latency_ms: RunSummary.shape.latency_ms,
  /** Why calls failed, and why scores are missing; empty until the run has ended. */
  errors: RunSummary.shape.errors,
  missing_scores: RunSummary.shape.missing_scores,
  /** Of the endpoint's calls, and of the judge's; absent if `PRICES` was not set. */
  cost: CostSum.optional(),
  judge_cost: CostSum.optional(),
}).meta({ id: "ComparedRun" });
export type ComparedRun = z.infer<typeof ComparedRun>;

/** Runs beside each other, and which of them is better. Two runs are a baseline and a candidate. */
export const Comparison = Verdicts.extend({
  message: z.string(),
  group_id: z.string().optional().meta({
    description: "If one request named the models of the runs.",
  }),
  /** `running` while any run is; `completed` if all are. */
  status: RunStatus,
  /** Of all runs together, as the costs are. */
  progress: RunProgress,
  cost: CostSum.optional(),
  judge_cost: CostSum.optional(),
  /** In the order of the request. */
  runs: z.array(ComparedRun),
  pairs: z.array(ComparedPair).nullable().meta({
    description: "Each run against each later one, of a group those that are completed; `null` " +
      "while a run of the group is running. So are `best` and `tests`.",
  }),
  best: Verdicts.shape.best.nullable(),
  tests: Verdicts.shape.tests.nullable(),
  measure: MeasureChange.optional().meta({
    description: "Only of two runs with the same replies: what another measure says of them.",
  }),
}).meta({ id: "Comparison" });
export type Comparison = z.infer<typeof Comparison>;

/** Which runs are compared: these, or those of a group. */
export type Selection = { runs: string[] } | { group: string };

interface ComparerDeps {
  store: RunReader;
  /** The current state of a run. */
  view: (run: RunRecord) => Promise<Run>;
  /** The summary of a run that has ended. */
  summarise: (run: RunRecord) => Promise<Summary>;
}

interface ComparisonOptions extends CompareOptions {
  /** `false` makes it faster: comparing reads all turns of the runs. */
  withPairs?: boolean;
}

export interface Comparer {
  /** The runs; of a group the last of each model's retries. Throws 404 if one is missing. */
  runs(selection: Selection): Promise<RunRecord[]>;
  /** The state of a group. Throws 404 likewise. */
  state(group: string): Promise<GroupState>;
  /** Throws 404 likewise, and 400 for a score that no run has. */
  compare(selection: Selection, options?: ComparisonOptions): Promise<Comparison>;
}

/** The runs of a request that named several models. */
export const GroupState = Comparison.pick({ group_id: true, status: true, progress: true })
  .required().extend({
    runs: z.array(
      ComparedRun.pick({ run_id: true, name: true, status: true, progress: true })
        .meta({ id: "GroupRunState" }),
    ),
  }).meta({ id: "GroupState" });
type GroupState = z.infer<typeof GroupState>;

/** The number of comparisons whose verdicts are cached. */
const KEPT = 20;

export function createComparer({ store, view, summarise }: ComparerDeps): Comparer {
  const readVerdicts = createVerdictCache(store);

  async function findRuns(selection: Selection): Promise<RunRecord[]> {
    if ("group" in selection) {
      const found = await store.groupRuns(selection.group);
      if (found.length > 0) return found;
      throw notFound(`cannot find group ${selection.group}: no run is in it`);
    }
    return await Promise.all(selection.runs.map((name) => requireRecord(store, name)));
  }

  /** Reads a run again if it has ended between being read and being viewed. */
  async function asViewed(run: RunRecord, { finished_at }: Run): Promise<RunRecord> {
    const isOlder = run.finishedAt === null && finished_at !== null;
    return isOlder ? await store.getRecord(run.id) ?? run : run;
  }

  async function describeRun(run: RunRecord, viewed: Named): Promise<ComparedRun> {
    const summary = viewed.finished_at === null ? undefined : await summarise(run);
    const spent = summary && await spentOn(run, summary);
    return {
      ...viewed,
      scores: summary?.statistics ?? null,
      pass_rate: summary?.pass_rate ?? null,
      scenarios: summary?.scenarios ?? null,
      truncated: summary?.truncated ?? 0,
      usage: spent?.usage ?? null,
      latency_ms: summary?.latency_ms ?? null,
      errors: summary?.errors ?? [],
      missing_scores: summary?.missing_scores ?? [],
      ...(spent?.cost && { cost: spent.cost }),
      ...(spent?.judge_cost && { judge_cost: spent.judge_cost }),
    };
  }

  /** The usage and costs of a run and those that it retries, as far as they are still stored. */
  async function spentOn(run: RunRecord, summary: Summary) {
    const all = [summary];
    let before = run.parentId;
    while (before !== null) {
      const parent = await store.getRecord(before);
      if (parent) all.push(await summarise(parent));
      before = parent?.parentId ?? null;
    }
    const tokens = (kind: keyof Summary["usage"]) =>
      all.reduce((sum, { usage }) => sum + usage[kind], 0);
    return {
      usage: { input_tokens: tokens("input_tokens"), output_tokens: tokens("output_tokens") },
      cost: addCosts(all.map(({ cost }) => cost)),
      judge_cost: addCosts(all.map(({ judge_cost }) => judge_cost)),
    };
  }

  return {
    runs: findRuns,

    async state(group) {
      const views = withNames(await Promise.all((await findRuns({ group })).map(view)));
      return {
        group_id: group,
        ...stateOf(views),
        runs: views.map(({ run_id, name, status, progress }) => ({
          ...{ run_id, name, status, progress },
        })),
      };
    },

    async compare(selection, { withPairs = true, ...options } = {}) {
      const read = await findRuns(selection);
      // Once, because runs may end meanwhile.
      const views = withNames(await Promise.all(read.map(view)));
      const records = await Promise.all(read.map((run, index) => asViewed(run, views[index]!)));
      const runs: ComparedRun[] = [];
      for (const [index, run] of records.entries()) { // each may read a whole run
        runs.push(await describeRun(run, views[index]!));
      }
      const state = stateOf(views);
      const isOfGroup = "group" in selection;
      const compared = records.map((run, index) => ({ run, name: runs[index]!.name }))
        .filter((_, index) => !isOfGroup || views[index]!.status === "completed");
      const verdicts = withPairs && !(isOfGroup && state.status === "running")
        ? await readVerdicts(compared, options)
        : { pairs: null, best: null, decided_by: options.decideBy ?? HEADLINE, tests: null };
      const cost = addCosts(runs.map((run) => run.cost));
      const judge_cost = addCosts(runs.map((run) => run.judge_cost));
      return {
        message: describe(state, views),
        ...(isOfGroup && { group_id: selection.group }),
        ...state,
        ...(cost && { cost }),
        ...(judge_cost && { judge_cost }),
        runs,
        ...verdicts,
        ...(!isOfGroup && await describeSameReplies(store, records, verdicts.pairs)),
      };
    },
  };
}

/** What is said of two runs with the same replies instead of a verdict. */
async function describeSameReplies(
  store: RunReader,
  [one, other, third]: RunRecord[],
  pairs: Verdicts["pairs"] | null,
): Promise<Pick<Comparison, "measure" | "pairs"> | undefined> {
  if (!one || !other || third || (one.parentId ?? other.parentId) === null) return undefined;
  const [baseline, candidate] = [await store.getRun(one.id), await store.getRun(other.id)];
  const measure = baseline && candidate &&
    await describeMeasureChange(store, { baseline, candidate });
  if (!measure) return undefined;
  const said = measureSentences(measure).map((detail) => ({ code: "other_measure", detail }));
  return {
    measure,
    pairs: pairs && pairs.map(({ verdict_as_counted: _, ...pair }) => ({
      ...pair,
      verdict: "inconclusive",
      better: null,
      reason: "both runs have the same replies: only their measure differs, not the model",
      notes: [...said, ...pair.notes],
    })),
  };
}

/** Caches verdicts of runs that have ended: they do not change. */
function createVerdictCache(reader: RunReader) {
  const kept = new Map<string, Promise<Verdicts>>();

  async function compare(
    runs: { run: RunRecord; name: string }[],
    options: CompareOptions,
  ): Promise<Verdicts> {
    const batches = new Map<string, EvaluateRequest["test_batch"]>();
    return await compareRuns(
      runs.map(({ run, name }): NamedRun => ({
        name,
        async open() {
          const { request } = (await reader.getRun(run.id))!;
          // The runs of a group have the same batch: it is kept once.
          const test_batch = batches.getOrInsert(run.group?.id ?? run.id, request.test_batch);
          return toComparable({ ...run, request: { ...request, test_batch } }, reader);
        },
      })),
      options,
    );
  }

  return (runs: { run: RunRecord; name: string }[], options: CompareOptions) => {
    const ends = runs.map(({ run, name }) => [run.id, run.finishedAt, name]);
    if (runs.some(({ run }) => run.finishedAt === null)) return compare(runs, options);
    const key = JSON.stringify([options, ends]);
    const known = kept.get(key);
    if (known) return known;
    const result = compare(runs, options);
    kept.set(key, result);
    result.catch(() => kept.delete(key));
    if (kept.size > KEPT) kept.delete(kept.keys().next().value!);
    return result;
  };
}

/** Opens two stored runs for comparing. Throws 404 if one is missing. */
export async function comparableRuns(
  reader: RunReader,
  ids: { baseline: string; candidate: string },
) {
  const baseline = await requireRun(reader, ids.baseline);
  const candidate = await requireRun(reader, ids.candidate);
  return {
    stored: { baseline, candidate },
    runs: {
      baseline: toComparable(baseline, reader),
      candidate: toComparable(candidate, reader),
    },
  };
}

/** The fields of a request that comparing reads. */
type ComparedRequest =
  & Pick<EvaluateRequest, "test_batch" | "rubric" | "history">
  & { scored_by?: unknown };

/** Opens a stored run for comparing. */
function toComparable(
  run: RunRecord & { request: ComparedRequest },
  reader: RunReader,
): ComparableRun {
  const { test_batch: scenarios, rubric } = run.request;
  return {
    scenarios,
    rubric,
    scoredBy: ScoredBy.safeParse(run.request.scored_by).data,
    history: run.request.history,
    turns: turnsSoFar(reader, run),
  };
}

type Named = Run & { name: string };

/** Each run with a name of its own: that of its model, with a number if it was there before. */
function withNames(views: Run[]): Named[] {
  const taken = new Set<string>();
  return views.map((view) => {
    const { name: model = view.model_id } = view;
    let name = model;
    for (let copy = 2; taken.has(name); copy++) name = `${model} (${copy})`;
    taken.add(name);
    return { ...view, name };
  });
}

/** Runs have together the first of these statuses that one of them has. */
const NOT_COMPLETED = ["running", "failed", "interrupted", "cancelled"] as const;

function stateOf(views: Run[]): Pick<Comparison, "status" | "progress"> {
  return {
    status: NOT_COMPLETED.find((status) => views.some((run) => run.status === status)) ??
      "completed",
    progress: addProgress(views.map(({ progress }) => progress)),
  };
}

/** The progress of all runs. They run concurrently, so they end with the last one. */
function addProgress(all: RunProgress[]): RunProgress {
  const sum = (of: (progress: RunProgress) => number) =>
    all.reduce((total, progress) => total + of(progress), 0);
  const means = all.map(({ mean }) => mean).filter((value) => value !== null);
  const etas = all.map(({ eta_ms }) => eta_ms);
  return {
    done: sum(({ done }) => done),
    failed: sum(({ failed }) => failed),
    missing: sum(({ missing }) => missing),
    total: sum(({ total }) => total),
    mean: mean(means),
    eta_ms: etas.includes(null) ? null : Math.max(...etas as number[]),
  };
}

function describe({ status, progress }: Pick<Comparison, "status" | "progress">, runs: Run[]) {
  if (status === "completed") return describeCompletion(progress);
  const completed = runs.filter((run) => run.status === "completed").length;
  return `Evaluation ${status}: ${completed} of ${runs.length} models completed`;
}

/** Removes the fields that only `detail=full` has. */
export function comparisonInDetail(comparison: Comparison, detail: Detail): Comparison {
  if (detail === "full") return comparison;
  const runs = comparison.runs.map((run) => ({
    ...run,
    scores: run.scores && inDetail(run.scores, detail),
  }));
  const { pairs, decided_by } = comparison;
  return { ...(pairs ? withoutDetail({ ...comparison, pairs }, decided_by) : comparison), runs };
}

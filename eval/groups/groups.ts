import { notFound } from "../../shared/errors.ts";
import { comparePairwise, type PairwiseResult } from "../compare/pairwise.ts";
import { toComparable } from "../compare/compare_stored.ts";
import { METHOD } from "../compare/statistics/permutation.ts";
import { scoreInDetail } from "../compare/comparison.ts";
import { type Detail, inDetail } from "../results/detail.ts";
import { ALPHA } from "../results/mean_interval.ts";
import { addCosts } from "../results/turn_counts.ts";
import { describeCompletion } from "../results/summary.ts";
import { HEADLINE } from "../results/passing.ts";
import type { RunHeadline, RunSummary } from "../results/run_summary.ts";
import type { Run } from "../run/events/view.ts";
import type { RunRecord } from "../store/runs/run_record.ts";
import type { RunReader } from "../store/store.ts";
import {
  type GroupModel,
  type GroupPair,
  type GroupReport,
  type ListedGroup,
  listGroup,
} from "./group_report.ts";

interface GroupsDeps {
  store: RunReader;
  /** The current state of a run. */
  view: (run: RunRecord) => Promise<Run>;
  /** The summary of a run that has ended. */
  summarise: (run: RunRecord) => Promise<RunSummary>;
  /** The headlines of runs by id, as far as there are any; for lists. */
  headlines: (runs: RunRecord[]) => Promise<Map<string, RunHeadline>>;
}

interface ReportOptions {
  /** The deciding score; `overall` if unset. */
  decideBy?: string | undefined;
  /** `false` makes the report faster: comparing reads all turns of the runs. */
  withPairs?: boolean;
}

export interface Groups {
  /** The runs of a group. Throws 404 if there is no such group. */
  runs(id: string): Promise<RunRecord[]>;
  /** The group as in lists. Throws 404 likewise. */
  view(id: string): Promise<ListedGroup>;
  /** Throws 404 likewise, and 400 for a score that no run has. */
  report(id: string, options?: ReportOptions): Promise<GroupReport>;
  /** Newest first, those before `before`. */
  list(page: { before?: string | undefined; limit: number }): Promise<ListedGroup[]>;
}

/** The number of groups whose pairs are cached. */
const KEPT = 20;

export function createGroups({ store, view, summarise, headlines }: GroupsDeps): Groups {
  const comparePairs = createPairCache(store);

  async function runs(id: string): Promise<RunRecord[]> {
    const found = await store.groupRuns(id);
    if (found.length > 0) return found;
    throw notFound(`cannot find group ${id}: no group has this id`);
  }

  /** Reads a run again if it has ended between being read and being viewed. */
  async function asViewed(run: RunRecord, { finished_at }: Run): Promise<RunRecord> {
    const isOlder = run.finishedAt === null && finished_at !== null;
    return isOlder ? await store.getRecord(run.id) ?? run : run;
  }

  async function describeModel(run: RunRecord, viewed: Run): Promise<GroupModel> {
    const { run_id, name, model_id, endpoint, status, detail, progress, finished_at } = viewed;
    const summary = finished_at === null ? undefined : await summarise(run);
    const spent = summary && await spentOn(run, summary);
    return {
      ...{ run_id, name: name ?? model_id, model_id, endpoint, status, detail, progress },
      scores: summary?.statistics ?? null,
      pass_rate: summary?.pass_rate ?? null,
      scenarios: summary?.scenarios ?? null,
      usage: spent?.usage ?? null,
      latency_ms: summary?.latency_ms ?? null,
      errors: summary?.errors ?? [],
      missing_scores: summary?.missing_scores ?? [],
      ...(spent?.cost && { cost: spent.cost }),
      ...(spent?.judge_cost && { judge_cost: spent.judge_cost }),
    };
  }

  /** The usage and costs of a run and those that it retries, as far as they are still stored. */
  async function spentOn(run: RunRecord, summary: RunSummary) {
    const all = [summary];
    let before = run.parentId;
    while (before !== null) {
      const parent = await store.getRecord(before);
      if (parent) all.push(await summarise(parent));
      before = parent?.parentId ?? null;
    }
    const tokens = (kind: keyof RunSummary["usage"]) =>
      all.reduce((sum, { usage }) => sum + usage[kind], 0);
    return {
      usage: { input_tokens: tokens("input_tokens"), output_tokens: tokens("output_tokens") },
      cost: addCosts(all.map(({ cost }) => cost)),
      judge_cost: addCosts(all.map(({ judge_cost }) => judge_cost)),
    };
  }

  return {
    runs,

    async view(id) {
      return listGroup(id, await Promise.all((await runs(id)).map(view)));
    },

    async list(page) {
      const listed: ListedGroup[] = [];
      const runs: RunRecord[] = [];
      for (const id of await store.listGroups(page)) {
        const members = await store.groupRuns(id);
        if (members.length === 0) continue; // deleted meanwhile
        runs.push(...members);
        listed.push(listGroup(id, await Promise.all(members.map(view))));
      }
      const found = await headlines(runs);
      const withOverall = (model: ListedGroup["models"][number]) => {
        const overall = found.get(model.run_id)?.scores[HEADLINE];
        return {
          ...model,
          overall: overall ? { mean: overall.mean, bounds: overall.bounds } : null,
        };
      };
      return listed.map((group) => ({ ...group, models: group.models.map(withOverall) }));
    },

    async report(id, { decideBy, withPairs = true } = {}) {
      const read = await runs(id);
      const views = await Promise.all(read.map(view)); // once, because runs may end meanwhile
      const members = await Promise.all(read.map((run, index) => asViewed(run, views[index]!)));
      const { models: _, ...listed } = listGroup(id, views);
      const models: GroupModel[] = [];
      for (const [index, run] of members.entries()) { // each may read a whole run
        models.push(await describeModel(run, views[index]!));
      }
      const cost = addCosts(models.map((model) => model.cost));
      const judge_cost = addCosts(models.map((model) => model.judge_cost));
      const completed = members.filter((_, index) => views[index]!.status === "completed");
      const compared = withPairs && listed.status !== "running"
        ? await comparePairs(completed, decideBy)
        : undefined;
      return {
        message: describe(listed, models),
        ...listed,
        ...(cost && { cost }),
        ...(judge_cost && { judge_cost }),
        models,
        ...describePairs(completed, compared),
      };
    },
  };
}

/** Caches verdicts: those of ended runs do not change. */
function createPairCache(store: RunReader) {
  const kept = new Map<string, Promise<PairwiseResult>>();

  async function compare(runs: RunRecord[], decideBy?: string): Promise<PairwiseResult> {
    const request = runs[0] && (await store.getRun(runs[0].id))?.request;
    // All runs have the same batch.
    const open = runs.map((run) => () => toComparable({ ...run, request: request! }, store));
    return await comparePairwise(open, { decideBy });
  }

  return (runs: RunRecord[], decideBy?: string): Promise<PairwiseResult> => {
    const key = JSON.stringify([
      decideBy ?? null,
      ...runs.map(({ id, finishedAt }) => [id, finishedAt]),
    ]);
    const known = kept.get(key);
    if (known) return known;
    const result = compare(runs, decideBy);
    kept.set(key, result);
    result.catch(() => kept.delete(key));
    if (kept.size > KEPT) kept.delete(kept.keys().next().value!);
    return result;
  };
}

function describePairs(
  runs: RunRecord[],
  compared: PairwiseResult | undefined,
): Pick<GroupReport, "pairs" | "best" | "decided_by" | "tests" | "method"> {
  if (!compared) return { pairs: null, best: null, decided_by: null, tests: null, method: null };
  const { decidedBy, tests, seed } = compared;
  const names = runs.map(({ group, modelId }) => group?.name ?? modelId);
  const pairs = compared.pairs.map(({ baseline, candidate, score, ...decision }): GroupPair => ({
    baseline: names[baseline]!,
    candidate: names[candidate]!,
    better: decision.verdict === "inconclusive"
      ? null
      : names[decision.verdict === "improved" ? candidate : baseline]!,
    ...decision,
    scores: score ? { [decidedBy]: score } : {},
  }));
  const worse = new Set(pairs.flatMap(({ better, baseline, candidate }) => {
    if (better === null) return [];
    return [better === candidate ? baseline : candidate];
  }));
  return {
    pairs,
    best: names.filter((name) => !worse.has(name)),
    decided_by: decidedBy,
    tests,
    method: { ...METHOD, correction: "Holm, over all pairs", confidence: 1 - ALPHA, seed },
  };
}

/** Removes the fields that only `detail=full` has. */
export function groupInDetail(report: GroupReport, detail: Detail): GroupReport {
  if (detail === "full") return report;
  const { method: _, ...rest } = report;
  return {
    ...rest,
    models: report.models.map((model) => ({
      ...model,
      scores: model.scores && inDetail(model.scores, detail),
    })),
    pairs: report.pairs && report.pairs.map(({ verdict_as_counted: _, scores, ...pair }) => ({
      ...pair,
      scores: Object.fromEntries(
        Object.entries(scores).map(([name, score]) => [name, scoreInDetail(score, detail)]),
      ),
    })),
  };
}

function describe(
  { status, progress }: Pick<ListedGroup, "status" | "progress">,
  models: GroupModel[],
): string {
  const completed = models.filter((model) => model.status === "completed").length;
  if (status !== "completed") {
    return `Evaluation ${status}: ${completed} of ${models.length} models completed`;
  }
  return describeCompletion(progress);
}

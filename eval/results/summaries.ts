import { runDeleted } from "../store/runs/require_run.ts";
import type { RunRecord, StoredRun } from "../store/runs/run_record.ts";
import type { RunStore } from "../store/store.ts";
import { createWholeReader, IncompleteRead } from "../store/turns/whole_reader.ts";
import { headlineOf, type RunHeadline, type RunSummary, summariseTurns } from "./run_summary.ts";
import { HEADLINE } from "./passing.ts";
import type { Statistic } from "../schemas/statistics.ts";

/** How long a list waits for headlines that are not stored yet. The next list finds the rest. */
const PATIENCE_MS = 1_000;

/** Summaries of runs. One of an ended run is computed once, when it is first asked for, and stored. */
export interface Summaries {
  /** By run id. Runs that have not ended have none, and a new one may come with a later call. */
  headlines(runs: RunRecord[]): Promise<Map<string, RunHeadline>>;
  summary(run: StoredRun): Promise<RunSummary>;
  /** The same without its request, which is read if the summary is not stored yet. */
  summaryOf(run: RunRecord): Promise<RunSummary>;
}

export function createSummaries(
  store: RunStore,
  { patienceMs = PATIENCE_MS }: { patienceMs?: number } = {},
): Summaries {
  const underWay = new Map<string, Promise<RunSummary>>();
  /**
   * Runs that cannot be read whole, by the end that they had: lists do not try again, and whoever
   * asks for one is told why.
   */
  const unreadable = new Map<string, number | null>();
  const headlinesUnderWay = new Map<string, Promise<RunHeadline | undefined>>();
  let queue: Promise<unknown> = Promise.resolve();

  /** One after another: each reads a whole run. */
  function compute(run: StoredRun): Promise<RunSummary> {
    const key = `${run.id} ${run.finishedAt}`; // one begun while the run was running lacks turns
    const known = underWay.get(key);
    if (known) return known;
    const computed = queue.then(() => readAndSave(run)).finally(() => underWay.delete(key));
    underWay.set(key, computed);
    queue = computed.catch(() => {});
    return computed;
  }

  async function readAndSave(run: StoredRun): Promise<RunSummary> {
    using _kept = store.keep(run.id);
    const isResting = run.status !== "running";
    const summary = await summariseTurns(isResting ? createWholeReader(store, run) : store, run);
    const { id, finishedAt } = run;
    if (finishedAt !== null) {
      await store.saveSummary({ id, finishedAt }, {
        overall: leastMean(summary.statistics[HEADLINE]),
        headline: JSON.stringify(headlineOf(summary)),
        summary: JSON.stringify(summary),
      });
    }
    return summary;
  }

  async function summary(run: StoredRun): Promise<RunSummary> {
    const stored = run.finishedAt === null ? undefined : await store.summary(run.id);
    return stored === undefined ? await compute(run) : JSON.parse(stored);
  }

  /** `undefined` if the run cannot be read: the request for it gets the reason. */
  async function readHeadline(id: string): Promise<RunHeadline | undefined> {
    let run: StoredRun | undefined;
    try {
      run = await store.getRun(id);
      return run && headlineOf(await summary(run));
    } catch (error) {
      if (run && error instanceof IncompleteRead) unreadable.set(id, run.finishedAt);
      return undefined;
    }
  }

  /** Once for all lists that wait for it: they may be asked for every second. */
  function headline(id: string): Promise<RunHeadline | undefined> {
    let reading = headlinesUnderWay.get(id);
    if (!reading) {
      reading = readHeadline(id).finally(() => headlinesUnderWay.delete(id));
      headlinesUnderWay.set(id, reading);
    }
    return reading;
  }

  /** One at a time: a request may have megabytes. */
  async function addMissing(ids: string[], found: Map<string, RunHeadline>): Promise<void> {
    for (const id of ids) {
      const read = await headline(id);
      if (read) found.set(id, read);
    }
  }

  return {
    summary,
    async summaryOf(run) {
      const stored = run.finishedAt === null ? undefined : await store.summary(run.id);
      if (stored !== undefined) return JSON.parse(stored);
      const whole = await store.getRun(run.id);
      if (whole) return await compute(whole);
      throw runDeleted(run.id);
    },
    async headlines(runs) {
      const ended = runs.filter(({ finishedAt }) => finishedAt !== null);
      const stored = await store.headlines(ended.map(({ id }) => id));
      const found = new Map<string, RunHeadline>(
        [...stored].map(([id, text]) => [id, JSON.parse(text)]),
      );
      const missing = ended
        .filter(({ id, finishedAt }) => !found.has(id) && unreadable.get(id) !== finishedAt)
        .map(({ id }) => id);
      await patiently(addMissing(missing, found), patienceMs);
      return found;
    },
  };
}

/** What runs are sorted by: a mean of which values are missing counts with its lower bound. */
function leastMean(statistic: Statistic | undefined): number | null {
  return statistic?.bounds?.[0] ?? statistic?.mean ?? null;
}

async function patiently(work: Promise<unknown>, ms: number): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<void>((resolve) => timer = setTimeout(resolve, ms));
  await Promise.race([work, late]);
  clearTimeout(timer);
}

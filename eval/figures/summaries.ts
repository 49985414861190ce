import { waitFor } from "../../shared/service/waiting.ts";
import { runDeleted } from "../store/require_run.ts";
import type { RunRecord } from "../store/run_record.ts";
import type { RunStore } from "../store/store.ts";
import { createWholeReader, IncompleteRead } from "../store/whole_reader.ts";
import { headlineOf, type RunHeadline, type RunSummary, summariseTurns } from "./run_summary.ts";
import { HEADLINE } from "./passing.ts";

/** How long a list waits for headlines that are not stored yet. The next list has the others. */
const PATIENCE_MS = 1_000;

/** Summaries of runs. That of an ended run is stored; see `saveSummary`. */
export interface Summaries {
  /** By run id. Runs that have not ended have none; one may be missing until a later call. */
  headlines(runs: RunRecord[]): Promise<Map<string, RunHeadline>>;
  summary(run: RunRecord): Promise<RunSummary>;
}

export function createSummaries(
  store: RunStore,
  { patienceMs = PATIENCE_MS }: { patienceMs?: number } = {},
): Summaries {
  const underWay = new Map<string, Promise<RunSummary>>();
  /**
   * `finishedAt` of runs that cannot be read completely. Lists do not read them again; a request
   * for the summary gets the error.
   */
  const unreadable = new Map<string, number | null>();
  let queue: Promise<unknown> = Promise.resolve();

  /** Computes one at a time, because each reads a whole run. Concurrent requests share a result. */
  function compute(run: RunRecord): Promise<RunSummary> {
    // A summary that was started before the run ended lacks turns.
    const key = `${run.id} ${run.finishedAt}`;
    return underWay.getOrInsertComputed(key, () => {
      const computed = queue.then(() => saveSummary(store, run.id)).finally(() =>
        underWay.delete(key)
      );
      queue = computed.catch(() => {});
      return computed;
    });
  }

  async function addHeadlines(runs: RunRecord[], found: Map<string, RunHeadline>): Promise<void> {
    for (const run of runs) {
      try {
        found.set(run.id, headlineOf(await compute(run)));
      } catch (error) {
        if (error instanceof IncompleteRead) unreadable.set(run.id, run.finishedAt);
      }
    }
  }

  return {
    async summary(run) {
      const stored = run.finishedAt === null ? undefined : await store.summary(run.id);
      return stored === undefined ? await compute(run) : JSON.parse(stored);
    },
    async headlines(runs) {
      const ended = runs.filter(({ finishedAt }) => finishedAt !== null);
      const stored = await store.headlines(ended.map(({ id }) => id));
      const found = new Map<string, RunHeadline>(
        [...stored].map(([id, text]) => [id, JSON.parse(text)]),
      );
      const missing = ended.filter(({ id, finishedAt }) =>
        !found.has(id) && unreadable.get(id) !== finishedAt
      );
      await waitFor(addHeadlines(missing, found), { ms: patienceMs });
      return found;
    },
  };
}

/** Summarises a run, and stores it if the run has ended: lists are sorted by what is stored. */
export async function saveSummary(store: RunStore, id: string): Promise<RunSummary> {
  const run = await store.getRun(id);
  if (!run) throw runDeleted(id);
  const isResting = run.status !== "running";
  const summary = await summariseTurns(isResting ? createWholeReader(store, run) : store, run);
  const { finishedAt } = run;
  if (finishedAt !== null) {
    await store.saveSummary({ id, finishedAt }, {
      overall: summary.statistics[HEADLINE]?.mean ?? null,
      headline: JSON.stringify(headlineOf(summary)),
      summary: JSON.stringify(summary),
    });
  }
  return summary;
}

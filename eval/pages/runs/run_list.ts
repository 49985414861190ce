import { signal } from "@preact/signals";
import { ApiProblem } from "../../../shared/pages/api_problem.ts";
import type { ListedRun } from "../../http/schemas/run_schemas.ts";
import { listRuns } from "../api.ts";
import type { Parameters } from "../source.ts";

/** How often the list is read again: often while something happens, seldom else. */
const BUSY_MS = 2_000;
const IDLE_MS = 10_000;
const PAGE = 50;

/** The runs on the page; `undefined` before the first answer. */
export const runs = signal<ListedRun[] | undefined>(undefined);
export const hasMore = signal(false);
export const listProblem = signal<ApiProblem | undefined>(undefined);

/**
 * Reads the list now and from time to time until the returned function is called. What is there stays
 * until the first answer, so that the table keeps the focus.
 */
export function followRuns(parameters: Parameters): () => void {
  const controller = new AbortController();
  let shown = PAGE;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let hasAnswer = false;
  if (runs.value?.length === 0) runs.value = undefined;

  async function read(): Promise<void> {
    clearTimeout(timer);
    try {
      const found: ListedRun[] = [];
      let cursor: string | undefined;
      do {
        const limit = Math.min(200, shown - found.length);
        const page = await listRuns({ ...parameters, limit, cursor }, controller.signal);
        found.push(...page.runs);
        cursor = page.next_cursor ?? undefined;
      } while (cursor && found.length < shown);
      runs.value = found;
      hasAnswer = true;
      hasMore.value = cursor !== undefined;
      listProblem.value = undefined;
    } catch (error) {
      if (controller.signal.aborted) return;
      if (!(error instanceof ApiProblem)) throw error;
      if (!hasAnswer) { // the runs on the page are those of another filter
        runs.value = undefined;
        hasMore.value = false;
      }
      listProblem.value = error;
    }
    if (controller.signal.aborted) return;
    const isBusy = runs.value?.some(({ status, headline, finished_at }) =>
      status === "running" || (finished_at !== null && headline === null)
    );
    timer = setTimeout(readIfSeen, isBusy ? BUSY_MS : IDLE_MS);
  }

  /** A list in a hidden tab is not read. */
  function readIfSeen(): void {
    if (document.visibilityState === "visible") read();
  }

  refreshList = read;
  showMore = () => {
    shown += PAGE;
    return read();
  };
  document.addEventListener("visibilitychange", readIfSeen);
  read();
  return () => {
    controller.abort();
    clearTimeout(timer);
    document.removeEventListener("visibilitychange", readIfSeen);
  };
}

/** Reads the list at once, after something was changed. */
export let refreshList: () => Promise<void> = () => Promise.resolve();
export let showMore: () => Promise<void> = () => Promise.resolve();

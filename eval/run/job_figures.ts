import type { JobFigures } from "../../shared/service/ops/metrics.ts";
import type { SharedFigures } from "./sharing/open_sharing.ts";

const COUNT_MS = 2_000;

/** The figures for `/metrics`; those of the database are missing if it does not answer. */
export async function readJobFigures(figures: SharedFigures): Promise<JobFigures> {
  const { retried } = figures;
  return { ...await within(figures.counts(), COUNT_MS), retried };
}

/** `undefined` if the work fails or takes longer. */
async function within<T>(work: Promise<T>, ms: number): Promise<T | undefined> {
  const { promise: late, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => resolve(undefined), ms);
  try {
    return await Promise.race([work.catch(() => undefined), late]);
  } finally {
    clearTimeout(timer);
  }
}

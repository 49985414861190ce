import type { JobFigures } from "../../shared/ops/metrics.ts";
import type { ReadinessCheck } from "../../shared/ops/operations_routes.ts";
import type { SharedFigures } from "./open_sharing.ts";

/** Without a sign of life for so long, other processes take over what this one has. */
const SILENT_MS = 10_000;
/** Shorter waits are usual. */
const LAG_SECONDS = 5;
const COUNT_MS = 2_000;

/** Fails if the queue has not confirmed for too long what this process works on. */
export function checkQueue(figures: Pick<SharedFigures, "silentMs">): ReadinessCheck {
  return () => {
    const { silentMs } = figures;
    if (silentMs < SILENT_MS) return undefined;
    return `the queue of conversations has not answered for ${Math.round(silentMs / 1000)} s`;
  };
}

/** How long conversations wait, if it is long: more instances would help. */
export function describeLag(figures: Pick<SharedFigures, "counts">): ReadinessCheck {
  return async () => {
    const counts = await within(figures.counts(), COUNT_MS);
    if (!counts || counts.lagSeconds < LAG_SECONDS) return undefined;
    const { waiting, lagSeconds } = counts;
    return `${waiting} conversations are waiting, the oldest for ${Math.round(lagSeconds)} s`;
  };
}

/** The figures for `/metrics`; those of the database are missing if it does not answer. */
export async function readJobFigures(figures: SharedFigures): Promise<JobFigures> {
  const { retried, takenOver } = figures;
  return { ...await within(figures.counts(), COUNT_MS), retried, takenOver };
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

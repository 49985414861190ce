/// <reference lib="deno.worker" />
/** Simulates cells of the trust grid, one message each. */
import { type CoverageCell, simulateCoverage } from "./coverage.ts";
import { simulateVerdicts, type VerdictCell, type VerdictShares } from "./verdicts.ts";

export type Job =
  & { simulations: number; seed: number }
  & (
    | { verdicts: VerdictCell }
    | { coverage: CoverageCell }
  );
export type JobResult = VerdictShares | { covered: number };

self.onmessage = async ({ data }: MessageEvent<Job>) => {
  const result: JobResult = "verdicts" in data
    ? await simulateVerdicts(data.verdicts, { ...data, draws: 400 })
    : { covered: simulateCoverage(data.coverage, data) };
  self.postMessage(result);
};
